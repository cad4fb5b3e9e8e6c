"use strict";
// Search over all that the page holds: findings, parts, functions and operations, tables, lines of source.
(() => {
  const input = document.getElementById("query"), list = document.getElementById("hits");
  const index = [];
  const add = (text, where, go) => index.push({text, where, low: text.toLowerCase(), go});
  for (const item of document.querySelectorAll("article.finding, .remarks li")) {
    const heading = item.querySelector("h3");
    add(`${item.id}  ${heading ? heading.textContent : item.textContent.trim()}`, "finding", () => reveal(item));
    const advice = item.querySelector(".fix p");
    if (advice) add(advice.textContent, `${item.id}, what to do`, () => reveal(item));
  }
  for (const row of document.querySelectorAll(".parts .row")) add(row.textContent, row.closest(".account").querySelector(".head strong").textContent, () => reveal(row));
  for (const heading of document.querySelectorAll("h2")) add(heading.textContent, "section", () => reveal(heading));
  for (const tree of DATA.trees) {
    const title = document.getElementById(tree.key).textContent;
    tree.nodes.forEach(([, name, value, , , , note, where], id) => add([name, where, shown(value, tree.unit), note].filter(Boolean).join("  "), title, () => { reveal(document.getElementById(tree.key)); trees.get(tree.key).show(id); }));
  }
  for (const row of document.querySelectorAll(".data tbody tr, .flow li")) {
    const text = row.tagName === "LI" ? row.innerText || row.textContent : [...row.cells].map((cell) => cell.textContent).join("  ");
    const section = row.closest("section, details.probe").querySelector("h2, summary");
    add(text.replace(/\s+/g, " "), section.textContent, () => reveal(row));
  }
  DATA.files.forEach(({name, code: lines}, file) => lines.forEach((text, number) => {
    if (text.trim()) add(text.trim(), `${name}:${number + 1}`, () => {
      const panel = document.querySelector("[data-source]");
      if (!panel) return;
      const [figure, box, here] = sourceTable(file, number + 1, "found by search");
      panel.replaceChildren(figure);
      reveal(figure);
      if (here) box.scrollTop = here.offsetTop - box.clientHeight / 3;
    });
  }));
  let hits = [], at = -1;
  const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); input.removeAttribute("aria-activedescendant"); at = -1; };
  const choose = (number) => {
    at = number;
    [...list.children].forEach((item, place) => item.setAttribute("aria-selected", place === at));
    if (at >= 0) { input.setAttribute("aria-activedescendant", `hit-${at}`); list.children[at].scrollIntoView({block: "nearest"}); }
  };
  const take = (number) => { const hit = hits[number]; if (hit) { close(); hit.go(); } };
  const look = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const tree of trees.values()) tree.mark(words.length ? input.value.toLowerCase().trim() : "");
    if (!words.length) { close(); return; }
    hits = index.filter((item) => words.every((word) => item.low.includes(word) || item.where.toLowerCase().includes(word))).slice(0, 40);
    list.replaceChildren(...hits.map((hit, number) => make("li", {role: "option", id: `hit-${number}`, "aria-selected": "false"}, hit.text.slice(0, 200), make("span", {text: hit.where}))));
    if (!hits.length) list.append(make("li", {role: "option", "aria-selected": "false", "aria-disabled": "true", text: "Nothing in this report holds that."}));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (hits.length) choose(0);
  };
  input.addEventListener("input", look);
  input.addEventListener("focus", () => { if (input.value) look(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && hits.length) { event.preventDefault(); choose((at + 1) % hits.length); }
    else if (event.key === "ArrowUp" && hits.length) { event.preventDefault(); choose((at - 1 + hits.length) % hits.length); }
    else if (event.key === "Enter") take(Math.max(at, 0));
    else if (event.key === "Escape") { input.value = ""; look(); input.blur(); }
  });
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => { const item = event.target.closest("li"); if (item) take([...list.children].indexOf(item)); });
  document.addEventListener("click", (event) => { if (!event.target.closest(".find")) close(); });
})();
