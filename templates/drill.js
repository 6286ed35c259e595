// What the script does on a drill: it puts the numbers of the day into the card, and judges a number that was typed in.
// The day and the note alone decide which numbers these are, so that front and back, and every device, show the same.
// Without it the card shows the first set of numbers, complete. It may run any number of times on a page.
(function () {
  "use strict";
  var KEY = "ladderdeck-drill";
  var DAWN = 4; // the hour at which a day begins, as in Anki
  var words = {
    zh: {
      ask: function (unit, share) { return "你的结果（" + (unit ? "单位 " + unit + "，" : "") + "误差 " + share + " 以内算对，可不填）"; },
      press: "按",
      button: { again: "重来 Again", hard: "困难 Hard", good: "良好 Good" },
      right: function (typed) { return "你算的 " + typed + " 在误差范围内"; },
      mistake: function (typed) { return "你算的 " + typed + " 正是这个错会得到的数："; },
      power: function (typed, factor) { return "你算的 " + typed + " 差了 " + factor + " 倍，步骤都对的话"; },
      wrong: function (typed) { return "你算的 " + typed + " 不在误差范围内：对照步骤，看错在哪一步"; },
      unread: function (typed) { return "“" + typed + "” 读不成一个数，请自己对照"; },
    },
    en: {
      ask: function (unit, share) { return "Your result" + (unit ? " in " + unit : "") + ", right within " + share + " (optional)"; },
      press: "Press",
      button: { again: "Again", hard: "Hard", good: "Good" },
      right: function (typed) { return "your " + typed + " is within the band"; },
      mistake: function (typed) { return "your " + typed + " is what this mistake gives: "; },
      power: function (typed, factor) { return "your " + typed + " is off by a factor of " + factor + ", if the steps were right"; },
      wrong: function (typed) { return "Your " + typed + " is outside of the band: see at which step you left the path"; },
      unread: function (typed) { return "“" + typed + "” could not be read as a number, so judge for yourself"; },
    },
  };

  function each(selector, action) {
    Array.prototype.forEach.call(document.querySelectorAll(".ladderdeck.drill " + selector), action);
  }

  // The number of the local day. From the calendar and not from elapsed hours, so that no change of clocks matters.
  function today() {
    var now = new Date();
    var midnight = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
    return Math.round(midnight / 86400000) - (now.getHours() < DAWN ? 1 : 0);
  }

  function variantOf(data) {
    var count = data.texts.length;
    return (((today() * data.step + data.offset) % count) + count) % count;
  }

  function fill(data, index) {
    var texts = data.texts[index];
    each("[data-slot]", function (element) {
      element.textContent = texts[Number(element.getAttribute("data-slot"))];
    });
    each(".mistake", function (item) {
      item.hidden = !item.querySelector(".wrong").textContent;
    });
    each(".mistakes", function (section) {
      section.hidden = !section.querySelector(".mistake:not([hidden])");
    });
  }

  // Storage that lives as long as the app shows cards; null where there is none, and then nothing is asked for.
  function storage() {
    try {
      var found = window.sessionStorage;
      found.setItem(KEY + "-try", "1");
      found.removeItem(KEY + "-try");
      return found;
    } catch (error) {
      return null;
    }
  }

  // What a person may mean by digits: a comma can part thousands or begin a fraction, so there may be two readings.
  function readings(typed, unit) {
    var raised = typed.replace(/[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, function (power) { return "^" + power; });
    var text = raised.normalize("NFKC").replace(/[\s_'’]/g, "");
    var tail = unit.normalize("NFKC").replace(/\s/g, "");
    if (tail && text.slice(-tail.length).toLowerCase() === tail.toLowerCase()) text = text.slice(0, -tail.length);
    var match = /^\+?([\d.,]*\d[\d.,]*)(?:(?:e|[x×*·]10\^)([+−-]?\d+))?$/i.exec(text);
    if (!match) return [];
    var power = match[2] ? Math.pow(10, Number(match[2].replace("−", "-"))) : 1;
    var digits = match[1], found = [];
    [[",", "."], [".", ","]].forEach(function (marks) {
      var parts = digits.split(marks[1]);
      var groups = parts[0].split(marks[0]);
      var grouped = groups.slice(1).every(function (group) { return group.length === 3; });
      var fraction = parts.length > 1 ? parts[1] : "";
      if (parts.length > 2 || fraction.indexOf(marks[0]) >= 0 || !grouped || (groups.length > 1 && !/^[1-9]\d{0,2}$/.test(groups[0]))) return;
      var value = Number((groups.join("") || "0") + "." + (fraction || "0")) * power;
      if (isFinite(value) && found.indexOf(value) < 0) found.push(value);
    });
    return found;
  }

  // What a reading is: right, the number of a mistake (from 0), off by a power of ten, or plainly wrong.
  function judge(value, numbers, share) {
    if (value >= numbers[1] && value <= numbers[2]) return { kind: "right", rank: 0 };
    var closest = { rank: 9, distance: share };
    numbers.slice(3).forEach(function (wrong, number) {
      var distance = wrong ? Math.abs(value / wrong - 1) : 9;
      if (distance <= closest.distance) closest = { kind: "mistake", rank: 1, mistake: number, distance: distance };
    });
    if (closest.kind) return closest;
    var power = Math.round(Math.log(value / numbers[0]) / Math.LN10);
    if (value > 0 && power && Math.abs(power) <= 9 && Math.abs(value / Math.pow(10, power) / numbers[0] - 1) <= share) {
      return { kind: "power", rank: 2, factor: "10" + (Math.abs(power) > 1 ? "^" + Math.abs(power) : "") };
    }
    return { kind: "wrong", rank: 3 };
  }

  function show(data, index, typed, text) {
    var numbers = data.numbers[index];
    var found = readings(typed, data.unit).map(function (value) { return judge(value, numbers, data.tolerance); });
    found.sort(function (one, other) { return one.rank - other.rank; });
    var best = found[0] || { kind: "unread" };
    var said = typed.trim();
    if (best.kind !== "unread" && data.unit && said.slice(-data.unit.length).toLowerCase() !== data.unit.toLowerCase()) {
      said += data.unit === "%" ? "%" : " " + data.unit;
    }
    var verdict = document.querySelector(".ladderdeck.drill .verdict");
    var status = verdict && verdict.querySelector(".status");
    if (!status) return;
    var button = { right: "good", mistake: "again", power: "hard" }[best.kind];
    status.textContent = "";
    verdict.removeAttribute("data-button");
    if (button) {
      var name = document.createElement("b");
      var chip = document.createElement("span");
      name.textContent = text.press + " ";
      chip.className = "answer-button";
      chip.textContent = text.button[button];
      name.appendChild(chip);
      status.appendChild(name);
      status.appendChild(document.createTextNode(" "));
      verdict.setAttribute("data-button", button);
    }
    var reason = document.createElement("span");
    reason.textContent = text[best.kind](said, best.factor);
    status.appendChild(reason);
    each(".mistake", function (item, number) {
      item.classList[number === best.mistake ? "add" : "remove"]("made");
      // A copy of its nodes: in a formula its text is not what is seen.
      if (number === best.mistake) reason.appendChild(withoutNumber(item));
    });
  }

  // What a mistake is, without the number that it gives.
  function withoutNumber(item) {
    var copy = item.cloneNode(true);
    copy.removeChild(copy.querySelector(".wrong"));
    var name = document.createElement("q");
    while (copy.firstChild) name.appendChild(copy.firstChild);
    name.firstChild.textContent = name.firstChild.textContent.replace(/^\s+/, "");
    return name;
  }

  // The field on the front. Its handlers are inline, for those are what AnkiDroid's tap zones respect.
  function ask(holder, data, text) {
    var label = document.createElement("label");
    var caption = document.createElement("span");
    var input = document.createElement("input");
    caption.textContent = text.ask(data.unit, Math.round(data.tolerance * 1000) / 10 + "%");
    input.type = "text";
    input.className = "tappable";
    input.setAttribute("inputmode", "decimal");
    input.setAttribute("autocomplete", "off");
    input.setAttribute("enterkeyhint", "done");
    input.setAttribute("onclick", "this.focus()");
    input.setAttribute("oninput", "ladderdeckDrill.keep(this)");
    input.setAttribute("onkeydown", "ladderdeckDrill.key(this, event)");
    label.appendChild(caption);
    label.appendChild(input);
    holder.appendChild(label);
  }

  function start() {
    var holder = document.querySelector(".ladderdeck.drill .own");
    var data = null;
    try {
      data = JSON.parse(holder.getAttribute("data-drill"));
    } catch (error) {
      return; // a card that has left its pack holds no numbers
    }
    var index = variantOf(data);
    fill(data, index);
    var kept = storage();
    if (!kept) return;
    var text = /^zh/i.test(holder.closest("[lang]").getAttribute("lang")) ? words.zh : words.en;
    window.ladderdeckDrill = {
      keep: function (input) {
        kept.setItem(KEY, JSON.stringify([data.id, index, input.value]));
      },
      key: function (input, event) {
        event.stopPropagation(); // what is typed here is no key of the app's
        if (event.key === "Enter") input.blur();
      },
    };
    if (document.querySelector(".ladderdeck.drill.back")) {
      var entry = JSON.parse(kept.getItem(KEY) || "[]");
      // Only for these numbers: the day may have begun since.
      if (entry[0] === data.id && entry[1] === index && entry[2].trim()) show(data, index, entry[2], text);
    } else if (!holder.firstChild) {
      kept.removeItem(KEY);
      ask(holder, data, text);
    }
  }

  start();
})();
