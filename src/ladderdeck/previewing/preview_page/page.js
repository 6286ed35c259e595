// The preview's own behaviour: filter and choose cards, and show the chosen one in frames of their own, like a phone's.
(() => {
  "use strict";
  let data = JSON.parse(document.getElementById("data").textContent);
  const find = id => document.getElementById(id);
  const ROW = 64; // the height of a row in the list, as in the stylesheet
  const plain = html => new DOMParser().parseFromString(html, "text/html").body.textContent.replace(/\s+/g, " ").trim();
  const plainTexts = () => data.texts.map(html => (html.includes("<") || html.includes("&") ? null : html));
  let texts = plainTexts();
  const plainText = number => (number === undefined ? "" : texts[number] ?? (texts[number] = plain(data.texts[number])));
  const label = card => plainText(card.fields.Question);
  const topicOf = card => plainText(card.fields.Topic);
  const packOf = card => plainText(card.fields.Pack);
  const words = new Map(); // what a search looks through, made for a card when it is first searched
  const wordsOf = card => {
    if (!words.has(card)) words.set(card, [...Object.values(card.fields).map(plainText), card.tags].join("\n").toLowerCase());
    return words.get(card);
  };
  const names = { rung: "rungs", sign: "signs", ladder: "ladders", "red-flag": "red flags", probe: "probes", drill: "drills" };

  let shown = data.cards.map((card, index) => index); // the cards that pass the filter
  let chosen = 0; // a place in `shown`
  const inFrame = new WeakMap(); // what a frame shows, and how far it was scrolled
  const loading = new WeakMap(); // frames that load, and what each is to show after that

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // Cards

  function valuesOf(card) {
    const type = data.types[card.kind];
    const values = Object.fromEntries(Object.entries(card.fields).map(([name, number]) => [name, data.texts[number]]));
    const special = { Tags: card.tags, Deck: card.deck, Subdeck: card.deck.split("::").pop(), Type: type.type, Card: type.card };
    return { ...special, ...values };
  }

  const withPictures = html => html.replace(/(<img\b[^>]*?\bsrc=")([^"]+)"/g, (all, head, name) => (data.pictures[name] ? `${head}${data.pictures[name]}"` : all));
  const zoomed = (css, factor) => css.replace(/(font-size:\s*)([\d.]+)px/g, (all, head, size) => `${head}${size * factor}px`);

  // A page that holds one side of a card, with the classes of a phone. It may run its own script, and reach nothing.
  function frameOf(html, night, zoom, days) {
    const policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
    const relay = "addEventListener('keydown',e=>{if(!/^(BUTTON|SUMMARY|A)$/.test(e.target.tagName)){if(e.key===' ')e.preventDefault();parent.postMessage({key:e.key},'*')}});addEventListener('scroll',()=>parent.postMessage({top:scrollY},'*'))";
    // A drill takes its numbers by the date: in the frame the clock is set forward, so that the card's own script finds that day.
    const later = `Date=class extends Date{constructor(...given){if(given.length)super(...given);else super(Date.now())}static now(){return super.now()+${days * 864e5}}}`;
    return `<!doctype html><html class="mobile"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`
      + `<meta name="viewport" content="width=device-width, initial-scale=1"><base target="_blank"><title>Card</title>${days ? `<script>${later}<\/script>` : ""}<style>${zoomed(data.css, zoom)}</style></head>`
      + `<body class="card card1 mobile${night ? " nightMode night_mode" : ""}"><div id="qa">${withPictures(html)}</div><script>${relay}<\/script></body></html>`;
  }

  // `keep` says that it is the same card as before, in another state: then its sides stay scrolled as they are.
  function showCard({ keep = false } = {}) {
    const card = data.cards[shown[chosen]];
    find("number").textContent = shown.length ? `${chosen + 1} of ${shown.length}` : "none";
    find("place").textContent = card ? card.place : "";
    find("problems").replaceChildren(...(card ? card.problems : []).map(number => problemLine(data.problems[number])));
    const stage = find("stage");
    if (!card) find("days").hidden = true;
    if (!card) return stage.replaceChildren(element("p", "", "No card passes the filter."));
    const sides = anki.card(data.types[card.kind], valuesOf(card));
    const width = Number(find("width").value), zoom = Number(find("zoom").value);
    const days = card.kind === "drill" ? Number(find("day").value) : 0;
    showDay(card.kind === "drill", days);
    const wanted = [];
    for (const colour of ["light", "dark"]) for (const side of ["front", "back"]) if (find(side).checked && find(colour).checked) wanted.push([side, colour]);
    const figures = wanted.map(([side, colour], place) => {
      const figure = stage.querySelectorAll("figure")[place] ?? emptyFigure();
      figure.className = `${colour}${width > 500 ? " wide" : ""}`;
      figure.querySelector("figcaption").textContent = `${side}, ${colour}`;
      const frame = figure.querySelector("iframe");
      frame.title = `${side} of the card, ${colour}`;
      frame.style.width = `${width}px`;
      const html = frameOf(sides[side], colour === "dark", zoom, days);
      const before = inFrame.get(frame);
      if (before?.html !== html) {
        const top = keep && before?.top ? before.top : 0;
        inFrame.set(frame, { html, top });
        load(frame, top ? html.replace("<\/script></body>", `;addEventListener("load",()=>scrollTo(0,${top}))<\/script></body>`) : html);
      }
      return figure;
    });
    // A frame that is put in its place once more loads once more, and forgets what was ticked.
    const same = figures.length === stage.childNodes.length && figures.every((figure, place) => figure === stage.childNodes[place]);
    if (!same) stage.replaceChildren(...figures);
  }

  // A frame that is sent on before it has loaded can stay blank in Chromium, so the newest page waits for its turn.
  function load(frame, html) {
    if (loading.has(frame) && frame.isConnected) return loading.set(frame, html);
    loading.set(frame, "");
    frame.srcdoc = html;
  }

  // The slider that only drills have: which day it is for the card.
  function showDay(isDrill, days) {
    find("days").hidden = !isDrill;
    const date = new Date();
    date.setDate(date.getDate() + days);
    const name = date.toLocaleDateString("en", { weekday: "short", day: "numeric", month: "short" });
    find("date").textContent = days ? `${name} (+${days})` : "today";
    find("day").setAttribute("aria-valuetext", find("date").textContent);
  }

  function emptyFigure() {
    const figure = element("figure"), frame = element("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.addEventListener("load", () => {
      const waiting = loading.get(frame);
      loading.delete(frame);
      if (waiting) load(frame, waiting);
    });
    figure.append(element("figcaption"), frame);
    return figure;
  }

  function problemLine(problem) {
    const line = element("p", "problem");
    line.append(element("b", problem.severity, `${problem.severity}: `), `${problem.message} `, element("code", "", problem.place));
    line.append(element("small", "", problem.hint));
    return line;
  }

  // The list: only the rows that are in sight exist.

  function drawList() {
    const list = find("list"), rows = find("rows");
    rows.style.height = `${shown.length * ROW}px`;
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
    const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 4);
    const made = [];
    for (let place = first; place < last; place++) made.push(rowOf(place));
    rows.replaceChildren(...made);
    list.setAttribute("aria-activedescendant", shown.length ? `row-${chosen}` : "");
  }

  function rowOf(place) {
    const card = data.cards[shown[place]], row = element("div", "row");
    row.id = `row-${place}`;
    row.style.top = `${place * ROW}px`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(place === chosen));
    row.setAttribute("aria-posinset", place + 1);
    row.setAttribute("aria-setsize", shown.length);
    row.dataset.place = place;
    const second = element("span", "", [card.kind.replace("-", " "), topicOf(card) || packOf(card)].join(" · "));
    const severities = card.problems.map(number => data.problems[number].severity);
    if (severities.length) second.prepend(element("span", severities.includes("error") ? "error" : "warning", `⚠ ${severities.length} `));
    row.append(element("b", "", label(card)), second);
    return row;
  }

  function choose(place, how) {
    if (!shown.length) return;
    chosen = Math.min(Math.max(place, 0), shown.length - 1);
    const list = find("list"), top = chosen * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    drawList();
    showCard(how);
  }

  function filter(_, before = shown[chosen], how = undefined) {
    const wanted = find("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const topic = find("topic").value, kind = find("kind").value, troubled = find("troubled").checked;
    shown = [];
    data.cards.forEach((card, index) => {
      if (kind && card.kind !== kind) return;
      if (topic && `${packOf(card)}\n${topicOf(card)}` !== topic) return;
      if (troubled && !card.problems.length) return;
      if (wanted.every(word => wordsOf(card).includes(word))) shown.push(index);
    });
    count();
    choose(Math.max(shown.indexOf(before), 0), how);
    if (!shown.length) { drawList(); showCard(); }
  }

  function count() {
    const kinds = Object.keys(names).map(kind => [shown.filter(index => data.cards[index].kind === kind).length, names[kind]]);
    const parts = kinds.filter(([number]) => number).map(([number, name]) => `${number} ${number === 1 ? name.slice(0, -1) : name}`);
    find("counts").textContent = `${shown.length} of ${data.cards.length} cards${parts.length ? ": " : ""}${parts.join(", ")}`;
  }

  // Setting up

  function fillFilters() {
    const [kind, topic] = [find("kind").value, find("topic").value];
    find("kind").length = 1;
    find("topic").replaceChildren(find("topic").options[0]);
    for (const kind of Object.keys(names)) if (data.cards.some(card => card.kind === kind)) find("kind").append(new Option(names[kind], kind));
    const groups = new Map();
    for (const card of data.cards) {
      if (!topicOf(card)) continue;
      if (!groups.has(packOf(card))) groups.set(packOf(card), new Set());
      groups.get(packOf(card)).add(topicOf(card));
    }
    for (const [pack, topics] of groups) {
      const group = element("optgroup");
      group.label = pack;
      for (const topic of topics) group.append(new Option(topic, `${pack}\n${topic}`));
      find("topic").append(group);
    }
    find("loose").hidden = !data.loose.length;
    find("loose").querySelector("summary").textContent = `⚠ ${data.loose.length} more problem(s), on no card`;
    find("loose").querySelector("ul").replaceChildren(...data.loose.map(number => {
      const item = element("li");
      item.append(problemLine(data.problems[number]));
      return item;
    }));
    // A topic that is gone leaves all topics.
    for (const [id, value] of [["kind", kind], ["topic", topic]]) find(id).value = [...find(id).options].some(option => option.value === value) ? value : "";
  }

  // Where a card is among new cards: the same words, else its place within its kind and topic, else its place in the deck.
  function placeAmong(cards, key, index) {
    const exact = cards.findIndex(other => other.full === key.full);
    if (exact >= 0) return exact;
    const near = cards.findIndex(other => other.part === key.part && other.number === key.number);
    return near >= 0 ? near : Math.min(index, cards.length - 1);
  }

  function keys() {
    const numbers = new Map();
    return data.cards.map(card => {
      const part = [card.kind, packOf(card), topicOf(card)].join("\n");
      numbers.set(part, (numbers.get(part) ?? -1) + 1);
      return { part, number: numbers.get(part), full: `${part}\n${label(card)}` };
    });
  }

  // Take new data, and stay where we are: the filters, the card, and how far everything is scrolled.
  function take(next) {
    const index = shown[chosen], key = keys()[index];
    data = next;
    texts = plainTexts();
    words.clear();
    fillFilters();
    filter(undefined, key ? placeAmong(keys(), key, index) : undefined, { keep: true });
  }

  function tell(problems) {
    find("failed").hidden = !problems.length;
    find("failed").replaceChildren(...problems.map(problemLine));
  }

  function turn() {
    const both = find("front").checked && find("back").checked, back = find("back").checked;
    find("front").checked = both || back;
    find("back").checked = !both && !back;
    showCard();
  }

  function nextOption(select) {
    select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
    showCard();
  }

  function press(key) {
    const keys = {
      j: () => choose(chosen + 1), ArrowDown: () => choose(chosen + 1), ArrowRight: () => choose(chosen + 1),
      k: () => choose(chosen - 1), ArrowUp: () => choose(chosen - 1), ArrowLeft: () => choose(chosen - 1),
      " ": turn,
      d: () => { const dark = !find("dark").checked; find("dark").checked = dark; find("light").checked = !dark; showCard(); },
      w: () => nextOption(find("width")), z: () => nextOption(find("zoom")), "/": () => find("text").focus(),
    };
    if (!Object.hasOwn(keys, key)) return false;
    keys[key]();
    return true;
  }

  fillFilters();
  for (const id of ["text", "topic", "kind", "troubled"]) find(id).addEventListener("input", filter);
  for (const id of ["front", "back", "light", "dark", "width", "zoom", "day"]) find(id).addEventListener("input", () => showCard());
  find("previous").addEventListener("click", () => choose(chosen - 1));
  find("next").addEventListener("click", () => choose(chosen + 1));
  find("cards").addEventListener("click", () => { document.body.classList.toggle("choosing"); drawList(); });
  find("list").addEventListener("scroll", drawList);
  find("rows").addEventListener("click", event => {
    const row = event.target.closest(".row");
    document.body.classList.remove("choosing");
    if (row) choose(Number(row.dataset.place));
  });
  addEventListener("resize", drawList);
  addEventListener("message", event => {
    const frames = [...document.querySelectorAll("iframe")].map(frame => frame.contentWindow);
    const place = frames.indexOf(event.source);
    if (place < 0 || typeof event.data !== "object" || !event.data) return;
    if ("top" in event.data) inFrame.get(document.querySelectorAll("iframe")[place]).top = Number(event.data.top) || 0;
    else press(event.data.key);
  });
  addEventListener("keydown", event => {
    const typing = /^(INPUT|SELECT|BUTTON|SUMMARY)$/.test(event.target.tagName);
    if (event.key === "Escape" && typing) event.target.blur();
    if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey && press(event.key)) event.preventDefault();
  });
  count();
  choose(0);
  if (!shown.length) showCard();
  globalThis.preview = { take, tell };
})();
