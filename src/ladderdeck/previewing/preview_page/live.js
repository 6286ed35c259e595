// What a served preview does besides: it takes new data whenever the deck was built again, and stays where it is.
(() => {
  "use strict";
  const find = id => document.getElementById(id);
  let wanted = 0, running = false;

  async function update() {
    if (running) return;
    running = true;
    let shown = 0;
    while (shown !== wanted) {
      shown = wanted;
      try {
        const answer = await fetch("data", { cache: "no-store" });
        const { data, failed } = await answer.json();
        if (data) preview.take(data);
        preview.tell(failed);
        document.documentElement.dataset.round = shown;
      } catch { /* the news will say when the server is there again */ }
    }
    running = false;
  }

  function connect() {
    const news = new EventSource("news");
    news.addEventListener("message", event => {
      find("lost").hidden = true;
      wanted = event.data;
      update();
    });
    news.addEventListener("error", () => { find("lost").hidden = false; });
  }
  connect();
})();
