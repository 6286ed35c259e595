(() => {
  // What is wrong with a card's looks, as a list of sentences: run in a page that shows one.
  const found = new Set();
  const root = document.scrollingElement;
  const own = [...document.querySelectorAll(".ladderdeck")];
  const name = element => {
    const words = (element.textContent || "").trim().slice(0, 24);
    return `${element.tagName.toLowerCase()}.${element.className.baseVal ?? element.className} '${words}'`;
  };
  const shown = element => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const scrolls = element => /auto|scroll/.test(getComputedStyle(element).overflowX);
  const inScroller = element => { while (element && element !== document.body) { if (scrolls(element)) return true; element = element.parentElement; } return false; };
  const inMath = element => element.closest("mjx-container, math");

  if (root.scrollWidth > root.clientWidth) found.add(`the page scrolls sideways: ${root.scrollWidth} > ${root.clientWidth}`);

  // Colours, as red, green, blue and opacity.
  const colour = text => { const parts = text.match(/[\d.]+/g).map(Number); return [...parts.slice(0, 3), parts[3] ?? 1]; };
  const behind = element => {
    for (; element; element = element.parentElement) {
      const paint = colour(getComputedStyle(element).backgroundColor);
      if (paint[3] === 1) return paint;
      if (paint[3] > 0) found.add(`half-transparent ground of ${name(element)}`);
    }
    return [255, 255, 255, 1];
  };
  const light = ([r, g, b]) => {
    const part = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const contrast = (ink, paper) => { const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); };
  const legible = (style, ground, what, isMath) => {
    const ratio = contrast(colour(style.color), ground);
    if (ratio < 4.5) found.add(`contrast ${ratio.toFixed(2)} of ${what}`);
    if (!isMath && parseFloat(style.fontSize) < 16.99) found.add(`${style.fontSize} text in ${what}`);
  };

  const lines = [];
  for (const card of own) {
    const walk = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const text = walk.currentNode, parent = text.parentElement;
      if (!text.data.trim() || !shown(parent) || parent.closest("script, style, mjx-assistive-mml")) continue;
      legible(getComputedStyle(parent), behind(parent), name(parent), inMath(parent));
      if (inMath(parent)) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      const free = !inScroller(parent);
      for (const box of range.getClientRects()) {
        if (box.width < 1) continue;
        if (free && (box.left < -0.5 || box.right > root.clientWidth + 0.5)) found.add(`${name(parent)} leaves the screen`);
        if (free) lines.push({ box, text });
      }
    }
    for (const element of card.querySelectorAll("*")) {
      if (!shown(element) || inMath(element)) continue;
      const style = getComputedStyle(element);
      for (const part of ["::before", "::after"]) {
        const drawn = getComputedStyle(element, part);
        if (!/["\w]/.test(drawn.content.replace(/^(none|normal|"")$/, ""))) continue;
        const paint = colour(drawn.backgroundColor);
        legible(drawn, paint[3] === 1 ? paint : behind(element), `${part} of ${name(element)}`, false);
      }
      const hides = overflow => /hidden|clip/.test(overflow);
      const across = hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1;
      const down = hides(style.overflowY) && element.scrollHeight > element.clientHeight + 1;
      if (across || down) found.add(`${name(element)} is clipped`);
      const target = element.matches("button, summary, input, [onclick]");
      const box = element.getBoundingClientRect();
      if (target && (box.width < 44 || box.height < 44)) found.add(`${name(element)} is a target of ${box.width} x ${box.height}`);
      if (target && (box.left < 0 || box.right > root.clientWidth)) found.add(`${name(element)} leaves the screen`);
    }
  }
  // No line of text on another: they may touch, as inline boxes of tall fonts do.
  for (let i = 0; i < lines.length; i++) for (let j = i + 1; j < lines.length; j++) {
    const a = lines[i].box, b = lines[j].box;
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (lines[i].text !== lines[j].text && across > 2 && down > Math.min(a.height, b.height) * 0.4) {
      found.add(`'${lines[i].text.data.trim().slice(0, 20)}' lies on '${lines[j].text.data.trim().slice(0, 20)}'`);
    }
  }
  return [...found];
})()
