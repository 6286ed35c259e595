// What the script adds to a card: every point of a list can be ticked, and the ticks name the answer button that fits.
// Without it the card is complete. It may run any number of times on a page, and keeps nothing from card to card.
(function () {
  "use strict";
  var words = {
    zh: {
      button: { again: "重来 (Again)", hard: "困难 (Hard)", good: "良好 (Good)" },
      point: function (number, must) { return "说到了第 " + number + " 条" + (must ? "（必答）" : ""); },
      verdict: function (said, all, missed, button) {
        return "说到 " + said + " / " + all + (missed ? "，漏了 " + missed + " 条必答" : "") + "，按「" + button + "」";
      },
    },
    en: {
      button: { again: "Again", hard: "Hard", good: "Good" },
      point: function (number, must) { return "I said point " + number + (must ? " (a must)" : ""); },
      verdict: function (said, all, missed, button) {
        return said + " of " + all + (missed ? ", missed " + missed + " must-have" : "") + ": press " + button;
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

  // The points of a check list: the items of its first list, and not those of lists inside of them.
  function points(list) {
    var first = list.querySelector("ol, ul");
    return first ? Array.prototype.filter.call(first.children, function (item) { return item.tagName === "LI"; }) : [];
  }

  // Again where a must-have or more than half is missing, Hard where anything is, else Good.
  function buttonFor(said, all, missedMust) {
    if (missedMust || said * 2 < all) return "again";
    return said < all ? "hard" : "good";
  }

  function prepare(list) {
    var verdict = list.querySelector(".verdict");
    if (!verdict || has(list, "ready")) return;
    points(list).forEach(function (item, index) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = "tick";
      button.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-label", wordsOf(list).point(index + 1, has(item, "must")));
      button.setAttribute("onclick", "ladderdeck.tick(this, event)"); // AnkiDroid's tap zones respect it, not a listener
      item.insertBefore(button, item.firstChild);
      mark(item, "tappable", true);
    });
    list.ladderdeckRule = verdict.innerHTML;
    mark(list, "ready", true);
  }

  function tick(button, event) {
    var list = button.closest(".check");
    button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") === "true" ? "false" : "true");
    if (event && event.detail) button.blur(); // or the space bar, which turns cards on a desktop, would tick again
    var items = points(list);
    var isSaid = function (item) { return item.querySelector(".tick").getAttribute("aria-pressed") === "true"; };
    var said = items.filter(isSaid).length;
    var missedMust = items.filter(function (item) { return has(item, "must") && !isSaid(item); }).length;
    items.forEach(function (item) {
      mark(item, "said", isSaid(item));
      mark(item, "missed", said > 0 && !isSaid(item));
    });
    var verdict = list.querySelector(".verdict");
    var name = buttonFor(said, items.length, missedMust);
    var text = wordsOf(list);
    if (said) verdict.textContent = text.verdict(said, items.length, missedMust, text.button[name]);
    else verdict.innerHTML = list.ladderdeckRule;
    if (said) verdict.setAttribute("data-button", name);
    else verdict.removeAttribute("data-button");
  }

  window.ladderdeck = { tick: tick };
  document.querySelectorAll(".ladderdeck .check").forEach(prepare);
  // What scrolls sideways can be scrolled with a keyboard, too.
  var boxes = ".ladderdeck pre, .ladderdeck .scroll, .ladderdeck :not(.scroll) > table";
  document.querySelectorAll(boxes).forEach(function (box) { box.tabIndex = 0; });
})();
