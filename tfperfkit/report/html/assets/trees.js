"use strict";
// Flame graph and icicles: boxes by d3-hierarchy's partition. One box has the tab stop, arrows move, Enter looks into it.
const ROW = 24;
const trees = new Map();
const heat = new Map(DATA.heat.map((row) => [`${row[0]}:${row[1]}`, row.slice(2)]));

const sourceTable = (file, line, title) => {
  const {name, code: lines} = DATA.files[file];
  const costs = lines.map((text, index) => heat.get(`${file}:${index + 1}`) || [0, 0, 0, 0]);
  const python = Math.max(...costs.map((cost) => cost[0]), 1e-9);
  const graph = Math.max(...costs.map((cost) => cost[1] + cost[2] + cost[3]), 1e-9);
  const compiled = graph > 1e-9;
  const bar = (value, most, tone) => {
    const cell = make("td", {class: "bar2", "aria-hidden": "true"}), fill = make("i");
    fill.style.width = `${100 * value / most}%`;
    fill.style.background = `var(${tone})`;
    if (value > 0) cell.append(fill);
    return cell;
  };
  const body = make("tbody");
  let here = null;
  lines.forEach((text, index) => {
    const [own, ...inside] = costs[index], sum = inside.reduce((a, b) => a + b, 0);
    const row = make("tr", {class: index + 1 === line ? "here" : null}, make("td", {class: "n", text: `${index + 1 === line ? "▶ " : ""}${index + 1}`}),
      make("td", {class: "h", text: own ? shown(own, "ms") : ""}), bar(own, python, "--c-python"));
    if (compiled) row.append(make("td", {class: "h", text: sum ? shown(sum, "ms") : "", title: sum ? `forward ${shown(inside[0], "ms")}, backward ${shown(inside[1], "ms")}, update ${shown(inside[2], "ms")}` : null}), bar(sum, graph, "--c-graph"));
    row.append(make("td", {text: text.replaceAll("\t", "    ")}));
    if (index + 1 === line) here = row;
    body.append(row);
  });
  const heads = ["line", "Python", "", ...(compiled ? ["in the graph", ""] : []), "source"];
  const table = make("table", {class: "mono"}, make("caption", {class: "unseen", text: `${name}, ms of a step by line`}), make("thead", {}, make("tr", {}, ...heads.map((text) => text ? make("th", {scope: "col", class: "small soft", text}) : make("td", {class: "none"})))), body);
  const box = make("div", {class: "source scroll", tabindex: "0", role: "region", "aria-label": `Source of ${name}`}, table);
  return [make("figure", {class: "code"}, make("figcaption", {}, make("code", {text: `${name}${line ? `:${line}` : ""}`}), make("span", {class: "soft", text: title})), box), box, here];
};

for (const tree of DATA.trees) {
  const place = document.querySelector(`[data-tree="${CSS.escape(tree.key)}"]`);
  const say = document.querySelector(`[data-say="${CSS.escape(tree.key)}"]`);
  const panel = document.querySelector(`[data-source="${CSS.escape(tree.key)}"]`);
  if (!place || !tree.nodes.length) continue;
  const items = tree.nodes.map(([parent, name, value, kind, file, line, note, where], id) => ({id, parent, name, value, kind, file, line, note, where, children: []}));
  items.forEach((item) => { if (item.parent >= 0) items[item.parent].children.push(item); });
  const root = d3.hierarchy(items[0]);
  root.eachBefore((node) => { node.value = node.data.value; });
  // What the boxes below do not fill is the box's own: partition divides the value that a node has.
  d3.partition()(root);
  const byId = new Map(root.descendants().map((node) => [node.data.id, node]));
  const whole = items[0].value;
  let zoomed = root, active = root, query = "";
  const labelOf = ({name, file, line}) => file >= 0 && line && !name.endsWith(`:${line}`) ? `${name}:${line}` : name;
  // Begins with what the box shows, so that a voice command finds it by what is seen.
  const words = (node) => {
    const {value, where, note} = node.data;
    return [`${labelOf(node.data)} ${shown(value, tree.unit)}`, `${share(value, whole)} of the whole`, where, note].filter(Boolean).join(", ");
  };
  const tell = (node) => { say.textContent = words(node); };
  const draw = () => {
    const width = room(place), shownNodes = [];
    const low = zoomed.x0, span = zoomed.x1 - zoomed.x0;
    const visit = (node) => {
      const left = Math.max(0, (node.x0 - low) / span), right = Math.min(1, (node.x1 - low) / span);
      if ((right - left) * width < 2.5) return;
      shownNodes.push([node, left, right]);
      for (const child of node.children || []) if (child.x1 > low + 1e-12 && child.x0 < zoomed.x1 - 1e-12) visit(child);
    };
    visit(root);
    place.replaceChildren();
    place.style.height = `${(Math.max(...shownNodes.map(([node]) => node.depth)) + 1) * ROW}px`;
    if (!shownNodes.some(([node]) => node === active)) active = zoomed;
    for (const [node, left, right] of shownNodes) {
      const wide = (right - left) * width, {kind} = node.data;
      const box = make("div", {role: "treeitem", class: `k-${kind}${wide < 30 ? " narrow" : ""}${query && words(node).toLowerCase().includes(query) ? " hit" : ""}`, tabindex: node === active ? "0" : "-1",
        "aria-level": node.depth + 1, "aria-label": words(node), "aria-selected": node === zoomed ? "true" : "false", "data-id": node.data.id, "aria-expanded": node.children ? "true" : null,
        text: wide < 30 ? "" : `${labelOf(node.data)}${wide > 150 ? ` ${shown(node.data.value, tree.unit)}` : ""}`});
      box.style.left = `${left * 100}%`;
      box.style.width = `calc(${(right - left) * 100}% - 1px)`;
      box.style.top = `${node.depth * ROW}px`;
      place.append(box);
    }
  };
  const focusOn = (node) => {
    active = node;
    for (const box of place.children) box.tabIndex = Number(box.dataset.id) === node.data.id ? 0 : -1;
    const box = place.querySelector(`[data-id="${node.data.id}"]`);
    if (box) box.focus();
    tell(node);
  };
  const look = (node, focus) => {
    zoomed = active = node;
    draw();
    tell(node);
    panel.replaceChildren();
    if (node.data.file >= 0) {
      const [figure, box, here] = sourceTable(node.data.file, node.data.line, node.data.name);
      panel.append(figure);
      if (here) box.scrollTop = here.offsetTop - box.clientHeight / 3;
    }
    if (focus) focusOn(node);
  };
  const nodeOf = (event) => { const box = event.target.closest("[data-id]"); return box ? byId.get(Number(box.dataset.id)) : null; };
  place.addEventListener("click", (event) => { const node = nodeOf(event); if (node) look(node, true); });
  place.addEventListener("mouseover", (event) => { const node = nodeOf(event); if (node) tell(node); });
  place.addEventListener("focusin", (event) => { const node = nodeOf(event); if (node) tell(node); });
  place.addEventListener("keydown", (event) => {
    const beside = (step) => { const all = active.parent ? active.parent.children : [active]; return all[all.indexOf(active) + step]; };
    const moves = {ArrowUp: () => active.parent, ArrowDown: () => active.children && active.children[0], ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), Home: () => root};
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); look(active, true); }
    else if (event.key === "Escape") look(root, true);
    else if (moves[event.key]) {
      event.preventDefault();
      const next = moves[event.key]();
      if (next && place.querySelector(`[data-id="${next.data.id}"]`)) focusOn(next);
    }
  });
  document.querySelector(`[data-up="${CSS.escape(tree.key)}"]`).addEventListener("click", () => look(root, false));
  trees.set(tree.key, {items, mark(text) { query = text; draw(); }, show(id) { look(byId.get(id), true); }});
  redraws.push(draw);
  draw();
  // The costliest line of the person's stands open: the first thing that a reader wants to see.
  if (tree.key === "flame") {
    const own = items.filter((item) => item.file >= 0 && item.kind === "own");
    const inner = own.filter((item) => item.value >= .4 * whole).sort((a, b) => byId.get(b.id).depth - byId.get(a.id).depth)[0] || own.sort((a, b) => b.value - a.value)[0];
    if (inner) {
      const [figure, box, here] = sourceTable(inner.file, inner.line, inner.name);
      panel.append(figure);
      if (here) box.scrollTop = here.offsetTop - box.clientHeight / 3;
      tell(byId.get(inner.id));
    }
  }
}
