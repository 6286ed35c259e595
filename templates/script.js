// What the script adds to a card: every point of a list can be ticked, and the ticks name the answer button that fits.
// Without it the card is complete. It may run any number of times on a page, and keeps nothing from card to card.
(function () {
  "use strict";
  var words = {
    zh: {
      button: { again: "重来 Again", hard: "困难 Hard", good: "良好 Good" },
      hint: "点一下你说到的",
      must: "（必答）",
      press: "按",
      point: function (number, must, what) { return "说到了第 " + number + " " + what + (must ? words.zh.must : ""); },
      unit: { point: "条", rung: "级" },
      count: function (said, all, open, what) {
        return "说到 " + said + " / " + all + (open.length ? "，还差第 " + open.join("、") + " " + what : "");
      },
    },
    en: {
      button: { again: "Again", hard: "Hard", good: "Good" },
      hint: "Tap what you said",
      must: " (a must)",
      press: "Press",
      point: function (number, must, what) { return "I said " + what + " " + number + (must ? words.en.must : ""); },
      unit: { point: "point", rung: "rung" },
      count: function (said, all, open) {
        return said + " of " + all + " said" + (open.length ? ", not yet: " + open.join(", ") : "");
      },
    },
  };

  function has(element, name) {
    return (" " + element.className + " ").indexOf(" " + name + " ") >= 0;
  }

  function mark(element, name, on) {
    element.classList[on ? "add" : "remove"](name);
  }

  function wordsOf(list) {
    var around = list.closest("[lang]");
    return around && /^zh/i.test(around.getAttribute("lang")) ? words.zh : words.en;
  }

  function unitOf(list) {
    return wordsOf(list).unit[has(list, "rungs") ? "rung" : "point"];
  }

  // The points of a check list: the items of its first list, and not those of lists inside of them.
  function points(list) {
    var first = list.querySelector("ol, ul");
    return first ? Array.prototype.filter.call(first.children, function (item) { return item.tagName === "LI"; }) : [];
  }

  // Again where a must-have or half or more is missing, Hard where anything is, else Good.
  function buttonFor(said, all, missedMust) {
    if (missedMust || said * 2 <= all) return "again";
    return said < all ? "hard" : "good";
  }

  function prepare(list) {
    if (has(list, "ready") || !list.querySelector("ol, ul")) return;
    points(list).forEach(function (item, index) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = "tick";
      button.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-label", wordsOf(list).point(index + 1, has(item, "must"), unitOf(list)));
      button.setAttribute("onclick", "ladderdeck.tick(this, event)"); // AnkiDroid's tap zones respect it, not a listener
      item.insertBefore(button, item.firstChild);
      mark(item, "tappable", true);
    });
    var tally = document.createElement("p");
    tally.className = "tally";
    if (!list.querySelector(".verdict")) tally.setAttribute("role", "status"); // one place is enough to be read aloud
    list.insertBefore(tally, list.querySelector("ol, ul"));
    mark(list, "ready", true);
    judge(list, "", 0, []);
  }

  function tick(button, event) {
    var list = button.closest(".check");
    button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") === "true" ? "false" : "true");
    if (event && event.detail) button.blur(); // or the space bar, which turns cards on a desktop, would tick again
    var items = points(list);
    var open = [];
    var missedMust = 0;
    items.forEach(function (item, index) {
      var isSaid = item.querySelector(".tick").getAttribute("aria-pressed") === "true";
      mark(item, "said", isSaid);
      if (isSaid) return;
      open.push(index + 1 + (has(item, "must") ? wordsOf(list).must : ""));
      if (has(item, "must")) missedMust += 1;
    });
    var begun = open.length < items.length;
    items.forEach(function (item) { mark(item, "missed", begun && !has(item, "said")); });
    var fits = has(list, "count-only") ? "" : buttonFor(items.length - open.length, items.length, missedMust);
    judge(list, fits, begun ? items.length : 0, open);
  }

  // Say above the list how many are ticked, and below it which button fits; what to do where nothing is ticked.
  function judge(list, name, all, open) {
    var text = wordsOf(list);
    var verdict = list.querySelector(".verdict");
    list.querySelector(".tally").textContent = all ? text.count(all - open.length, all, verdict ? [] : open, unitOf(list)) : text.hint;
    if (!verdict) return;
    var status = verdict.querySelector(".status");
    status.textContent = "";
    verdict.removeAttribute("data-button");
    if (!all || !name) return;
    verdict.setAttribute("data-button", name);
    var press = document.createElement("b");
    var button = document.createElement("span");
    press.textContent = text.press + " ";
    button.className = "answer-button";
    button.textContent = text.button[name];
    press.appendChild(button);
    status.appendChild(press);
    status.appendChild(document.createTextNode(" "));
    var said = document.createElement("span");
    said.textContent = text.count(all - open.length, all, open, unitOf(list));
    status.appendChild(said);
  }

  window.ladderdeck = { tick: tick };
  document.querySelectorAll(".ladderdeck .check").forEach(prepare);
  // What scrolls sideways can be scrolled with a keyboard, too.
  var boxes = ".ladderdeck pre, .ladderdeck .scroll, .ladderdeck :not(.scroll) > table";
  document.querySelectorAll(boxes).forEach(function (box) { box.tabIndex = 0; });
})();
