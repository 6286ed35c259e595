// Anki's template language, as far as card templates here may use it: fields, conditions, special fields, the front on
// the back. Tests compare what it makes with what Anki itself makes.
const anki = (() => {
  "use strict";
  const PART = /<!--[\s\S]*?(?:-->|$)|\{\{([\s\S]*?)\}\}/g;

  // What Anki takes for an empty field: blanks, line breaks and empty blocks.
  const isEmpty = text => /^(?:[ \t\n\v\f\r]|<\/?(?:br|div) ?\/?>)*$/i.test(text);

  // One side of a card; `values` maps names of fields and special fields to HTML.
  function side(template, values) {
    let made = "", last = 0;
    const open = []; // for each open condition, whether it holds
    const live = () => !open.includes(false);
    for (const part of template.matchAll(PART)) {
      if (live()) made += template.slice(last, part.index);
      last = part.index + part[0].length;
      if (part[1] === undefined) {
        if (live()) made += part[0];
        continue;
      }
      const inner = part[1].trim(), sign = inner[0];
      const name = /[#^/]/.test(sign) ? inner.slice(1).trim() : inner.split(":").pop().trim();
      const value = values[name] ?? "";
      if (sign === "#") open.push(!isEmpty(value));
      else if (sign === "^") open.push(isEmpty(value));
      else if (sign === "/") open.pop();
      else if (live()) made += value;
    }
    return made + (live() ? template.slice(last) : "");
  }

  // Both sides of a card.
  function card(type, values) {
    const front = side(type.front, values);
    return { front, back: side(type.back, { ...values, FrontSide: front }) };
  }

  return { card, side, isEmpty };
})();
