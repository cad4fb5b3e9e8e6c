"use strict";
// The steps as bars, with windows, long steps by cause and what happened in them; and series such as memory. By uPlot.
const LANES = {tracing: "tracing", gc: "collections", saving: "saving", evaluate: "validation"};
const WINDOW_WORDS = {warmup: "warm-up", clean: "clean", settle: "after a window"};
const SHAPES = ["triangle", "diamond", "square", "cross", "ring"];

const shape = (context, kind, x, y, size) => {
  context.beginPath();
  if (kind === "triangle") { context.moveTo(x, y - size); context.lineTo(x + size, y + size); context.lineTo(x - size, y + size); }
  else if (kind === "diamond") { context.moveTo(x, y - size * 1.2); context.lineTo(x + size, y); context.lineTo(x, y + size * 1.2); context.lineTo(x - size, y); }
  else if (kind === "square") context.rect(x - size * .85, y - size * .85, size * 1.7, size * 1.7);
  else if (kind === "ring") context.arc(x, y, size, 0, 7);
  else { context.moveTo(x - size, y - size); context.lineTo(x + size, y + size); context.moveTo(x + size, y - size); context.lineTo(x - size, y + size); }
  if (kind === "cross" || kind === "ring") context.stroke(); else { context.closePath(); context.fill(); }
};

const axis = (more) => ({stroke: color("--soft"), grid: {stroke: color("--rule"), width: 1}, ticks: {stroke: color("--rule")}, font: "12px system-ui, sans-serif", ...more});
// Of an axis: its largest value says in which unit all stand.
const inOneUnit = (ticks) => {
  const most = Math.max(...ticks), small = most < .1, large = most >= 10000;
  return ticks.map((tick) => large ? `${significant(tick / 1000)} s` : small ? `${significant(tick * 1000)} µs` : `${significant(tick)} ms`);
};
const room = (element) => Math.max(element.clientWidth, 240);

(() => {
  const place = document.getElementById("steps-plot");
  const data = DATA.timeline;
  if (!place || !data) return;
  const bars = data.bars;
  const say = document.getElementById("steps-say");
  const byCause = new Map();
  for (const [step, ms, cause] of data.outliers) { if (!byCause.has(cause)) byCause.set(cause, []); byCause.get(cause).push([step, ms]); }
  const causes = [...byCause.keys()];
  const lanes = Object.keys(LANES).filter((kind) => data.events.some((event) => event[0] === kind && event[1] > 0));
  const shift = data.windows.length || data.warmup ? 1 : 0;
  const x = bars.map((bar) => bar[0] + (bar[1] - 1) / 2);
  const middles = bars.map((bar) => bar[3]);
  const highs = bars.map((bar) => bar[4]);
  const first = bars[0][0] - .5, last = bars[bars.length - 1][0] + bars[bars.length - 1][1] - .5;
  const colors = () => ({clean: color("--c-clean"), warmup: color("--c-warmup"), settle: color("--c-settle"), probe: color("--c-probe")});
  const kindOf = (window) => window in WINDOW_WORDS ? window : "probe";
  const bounds = data.windows.map(([name, begin, count]) => [name, begin, count]);
  if (data.warmup) bounds.unshift(["warm-up", 1, data.warmup]);
  let plot = null, tall = false, seen = [first, last];

  const within = () => bars.map((bar, index) => index).filter((index) => x[index] >= seen[0] && x[index] <= seen[1]);
  const top = () => {
    const values = within().map((index) => highs[index]).sort((a, b) => a - b);
    if (!values.length) return 1;
    const most = values[values.length - 1];
    if (tall) return most * 1.08;
    const usual = values[Math.floor(values.length * .9)];
    return Math.min(most, usual * 2.2) * 1.08;
  };

  const background = (u) => {
    const context = u.ctx, {left, top: up, width, height} = u.bbox;
    context.save();
    context.beginPath(); context.rect(left, up, width, height); context.clip();
    context.fillStyle = color("--sunk");
    for (const [, begin, count] of bounds) {
      const from = u.valToPos(begin - .5, "x", true), to = u.valToPos(begin + count - .5, "x", true);
      context.globalAlpha = .6; context.fillRect(from, up, to - from, height); context.globalAlpha = 1;
    }
    context.restore();
  };
  const marks = (u) => {
    const context = u.ctx, ratio = devicePixelRatio, {left, top: up, width, height} = u.bbox;
    context.save();
    const palette = colors(), bound = u.scales.y.max;
    // Bars, each in the colour of its window; of several steps together a pale one up to the longest.
    const wide = Math.max(1, Math.min(26 * ratio, .82 * (u.valToPos(first + 1, "x", true) - u.valToPos(first, "x", true)) * (bars[0][1] || 1)));
    context.beginPath(); context.rect(left, up, width, height); context.clip();
    for (const index of within()) {
      const [, count, , middle, high, window] = bars[index];
      const at = u.valToPos(x[index], "x", true), base = up + height;
      const span = Math.max(1, Math.min(26 * ratio, .82 * count * (u.valToPos(1, "x", true) - u.valToPos(0, "x", true)))) || wide;
      context.fillStyle = palette[kindOf(window)];
      if (count > 1 && high > middle) { context.globalAlpha = .35; const y = u.valToPos(Math.min(high, bound), "y", true); context.fillRect(at - span / 2, y, span, base - y); context.globalAlpha = 1; }
      const y = u.valToPos(Math.min(middle, bound), "y", true);
      context.fillRect(at - span / 2, y, span, base - y);
    }
    // What is higher than the picture: its time stands at the top.
    context.font = `600 ${11 * ratio}px system-ui, sans-serif`; context.textAlign = "center"; context.fillStyle = color("--ink");
    let free = -1;
    for (const index of within()) if (highs[index] > bound) {
      const at = u.valToPos(x[index], "x", true), words = `↑ ${shown(highs[index], "ms")}`, half = context.measureText(words).width / 2;
      const centre = Math.min(Math.max(at, left + half), left + width - half);
      if (centre - half > free) { context.fillStyle = color("--card"); context.fillRect(centre - half - 2, up + 16 * ratio, 2 * half + 4, 15 * ratio); context.fillStyle = color("--ink"); context.fillText(words, centre, up + 28 * ratio); free = centre + half + 6; }
    }
    context.fillStyle = context.strokeStyle = color("--high"); context.lineWidth = 2 * ratio;
    causes.forEach((cause, number) => {
      for (const [step, ms] of byCause.get(cause)) if (step >= seen[0] && step <= seen[1]) {
        const at = u.valToPos(step, "x", true), y = Math.max(u.valToPos(Math.min(ms, bound), "y", true) - 7 * ratio, up + 40 * ratio);
        // On a bar, too, a sign is seen.
        context.fillStyle = color("--card"); context.fillRect(at - 7 * ratio, y - 7 * ratio, 14 * ratio, 14 * ratio); context.fillStyle = color("--high");
        shape(context, SHAPES[number % SHAPES.length], at, y, 4.5 * ratio);
      }
    });
    context.restore();
    // Lanes above the picture: windows, and what happened in which step.
    context.save(); context.font = `${11 * ratio}px system-ui, sans-serif`;
    if (bounds.length) {
      context.fillStyle = color("--soft"); context.textAlign = "right"; context.fillText("windows", left - 6 * ratio, 15 * ratio);
      context.textAlign = "left";
      for (const [name, begin, count] of bounds) {
        const from = Math.max(u.valToPos(begin - .5, "x", true), left), to = Math.min(u.valToPos(begin + count - .5, "x", true), left + width);
        if (to <= from) continue;
        context.fillStyle = color("--rule"); context.fillRect(from, 5 * ratio, Math.max(to - from - ratio, ratio), 13 * ratio);
        context.fillStyle = color("--ink");
        if (context.measureText(name).width + 6 * ratio < to - from) context.fillText(name, from + 3 * ratio, 15 * ratio);
      }
    }
    lanes.forEach((kind, number) => {
      const y = (6 + (number + shift) * 15) * ratio;
      context.fillStyle = color("--soft"); context.textAlign = "right"; context.fillText(LANES[kind], left - 6 * ratio, y + 9 * ratio);
      context.fillStyle = color(kind === "evaluate" ? "--c-evaluate" : `--c-${kind}`);
      for (const [what, step] of data.events) if (what === kind && step >= seen[0] && step <= seen[1])
        context.fillRect(u.valToPos(step, "x", true) - 1.5 * ratio, y, 3 * ratio, 11 * ratio);
    });
    context.restore();
  };
  const tell = (u) => {
    const index = u.cursor.idx;
    if (index === null || index === undefined) return;
    const [step, count, low, middle, high, window] = bars[index];
    const words = count > 1 ? `Steps ${step.toLocaleString("en-US")} to ${(step + count - 1).toLocaleString("en-US")}: median ${shown(middle, "ms")}, ${shown(low, "ms")} to ${shown(high, "ms")}` : `Step ${step.toLocaleString("en-US")}: ${shown(middle, "ms")}`;
    const causeOf = data.outliers.filter((item) => item[0] >= step && item[0] < step + count).slice(0, 3).map((item) => item[2]);
    const events = data.events.filter((item) => item[1] >= step && item[1] < step + count).slice(0, 3).map(([kind, , ms]) => `${LANES[kind] || kind} ${shown(ms, "ms")}`);
    say.textContent = [words, window === "clean" ? "" : `in ${WINDOW_WORDS[window] || `the window of ${window}`}`, causeOf.length ? `long because of: ${causeOf.join(", ")}` : "", events.join(", ")].filter(Boolean).join(" · ");
  };
  const zoom = (from, to) => {
    const span = Math.max(to - from, Math.min(4, last - first));
    from = Math.max(first, Math.min(from, last - span));
    seen = [from, Math.min(from + span, last)];
    draw();
  };
  const draw = () => {
    if (plot) plot.destroy();
    plot = new uPlot({
      width: room(place), height: 268 + (lanes.length + shift) * 15, padding: [16 + (lanes.length + shift) * 15, 24, 0, lanes.length + shift ? 14 : 0],
      legend: {show: false},
      cursor: {drag: {x: true, y: false, setScale: false}, points: {show: false}},
      scales: {x: {time: false, range: () => seen}, y: {range: () => [0, top()]}},
      axes: [axis({label: "step", labelSize: 20, size: 34, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000]}), axis({size: 76, values: (u, ticks) => inOneUnit(ticks)})],
      series: [{}, {stroke: "transparent", points: {show: false}}],
      hooks: {
        drawClear: [background], draw: [marks], setCursor: [tell],
        setSelect: [(u) => { if (u.select.width > 4) zoom(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")); }],
      },
    }, [x, middles], place);
    const clean = bars.filter((bar) => bar[5] === "clean").length;
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", `Time of each step, ${Math.round(seen[0] + .5)} to ${Math.round(seen[1] - .5)}. Median ${shown(data.median, "ms")}. ${clean} bars are clean steps. ${causes.map((cause) => `${byCause.get(cause).length} long because of ${cause}`).join(", ")}`);
    plot.over.addEventListener("dblclick", () => zoom(first, last));
  };
  const middle = () => (seen[0] + seen[1]) / 2, half = () => (seen[1] - seen[0]) / 2;
  document.getElementById("steps-in").addEventListener("click", () => zoom(middle() - half() / 2, middle() + half() / 2));
  document.getElementById("steps-left").addEventListener("click", () => zoom(seen[0] - half(), seen[1] - half()));
  document.getElementById("steps-right").addEventListener("click", () => zoom(seen[0] + half(), seen[1] + half()));
  document.getElementById("steps-all").addEventListener("click", () => zoom(first, last));
  document.getElementById("steps-tall").addEventListener("click", (event) => { tall = !tall; event.target.setAttribute("aria-pressed", tall); draw(); });

  const key = document.getElementById("steps-key");
  const kinds = new Set(bars.map((bar) => kindOf(bar[5])));
  const swatches = {clean: ["--c-clean", "clean step"], warmup: ["--c-warmup", "warm-up"], probe: ["--c-probe", "in a probe's window"], settle: ["--c-settle", "right after a window"]};
  for (const [kind, [name, words]] of Object.entries(swatches)) if (kinds.has(kind)) {
    const swatch = make("span", {class: "swatch"});
    redraws.push(() => { swatch.style.background = color(name); });
    key.append(make("li", {}, swatch, words));
  }
  const signs = {triangle: "▲", diamond: "◆", square: "■", cross: "✕", ring: "○"};
  causes.forEach((cause, number) => key.append(make("li", {text: `${signs[SHAPES[number % SHAPES.length]]} long: ${cause}`})));
  if (Math.max(...highs) > top()) key.append(make("li", {text: "↑ higher than the picture"}));
  if (bars.some((bar) => bar[1] > 1)) key.append(make("li", {text: `a bar is up to ${Math.max(...bars.map((bar) => bar[1])).toLocaleString("en-US")} steps: median, pale up to the longest`}));
  const rows = document.querySelector("#steps-table tbody");
  for (const [step, ms, cause] of [...data.outliers].sort((a, b) => b[1] - a[1]).slice(0, 200))
    rows.append(make("tr", {}, make("td", {class: "r", text: step.toLocaleString("en-US")}), make("td", {class: "r", text: shown(ms, "ms")}), make("td", {text: cause})));
  if (!data.outliers.length) rows.append(make("tr", {}, make("td", {colspan: 3, text: "No clean step was much longer than the others."})));
  redraws.push(draw);
})();

for (const item of DATA.series) {
  const place = document.querySelector(`[data-series="${CSS.escape(item.key)}"]`);
  const say = document.querySelector(`[data-say="${CSS.escape(item.key)}"]`);
  if (!place) continue;
  const drawn = item.lines.filter((line) => line.unit !== "count");
  const beside = item.lines.filter((line) => line.unit === "count");
  const palette = ["--c-line_1", "--c-line_2", "--c-line_3", "--c-line_4"], dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
  // Where the step is known at each point, it stands at the top: the clock below, the steps above.
  const step = beside.find((line) => line.label === "step" && line.values.some((value) => value > 0));
  const stepAt = (value) => {
    const known = step.values, after = item.x.findIndex((point) => point >= value);
    if (after < 0) return "";
    const share = after ? (value - item.x[after - 1]) / (item.x[after] - item.x[after - 1] || 1) : 0;
    const number = after ? (known[after - 1] || 0) + share * ((known[after] || 0) - (known[after - 1] || 0)) : known[0] || 0;
    return number >= 1 ? Math.round(number).toLocaleString("en-US") : "–";
  };
  const steps = step ? [axis({scale: "x", side: 0, size: 30, label: "step", labelSize: 18, grid: {show: false}, values: (u, ticks) => ticks.map(stepAt).map((text, index, all) => text === all[index - 1] ? "" : text)})] : [];
  let plot = null;
  redraws.push(() => {
    if (plot) plot.destroy();
    plot = new uPlot({
      width: room(place), height: step ? 268 : 230, legend: {show: false}, padding: [10, 8, 0, 0],
      cursor: {drag: {x: true, y: false}},
      scales: {x: {time: false}, y: {range: (u, low, high) => [0, high * 1.08]}},
      axes: [axis({label: item.x_label, labelSize: 20, size: 34}), axis({size: 82, incrs: drawn[0].unit === "bytes" ? Array.from({length: 46}, (none, power) => 2 ** power) : undefined, values: (u, ticks) => ticks.map((tick) => shown(tick, drawn[0].unit))}), ...steps],
      series: [{}, ...drawn.map((line, number) => ({label: line.label, stroke: color(palette[number % 4]), width: 2, dash: dashes[number % 4], points: {show: false}}))],
      hooks: {setCursor: [(u) => {
        const index = u.cursor.idx;
        if (index === null || index === undefined) return;
        say.textContent = [`${significant(item.x[index])} ${item.x_label}`, ...beside.map((line) => line.values[index] ? `${line.label} ${shown(line.values[index], "count")}` : "before the steps"), ...drawn.map((line) => `${line.label} ${shown(line.values[index], line.unit)}`)].join(" · ");
      }]},
    }, [item.x, ...drawn.map((line) => line.values)], place);
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", `${item.title}. ${drawn.map((line) => { const known = line.values.filter((value) => value !== null); return `${line.label}: from ${shown(known[0], line.unit)} to ${shown(known[known.length - 1], line.unit)}, at most ${shown(Math.max(...known), line.unit)}`; }).join("; ")}. ${item.note}`);
  });
  const key = make("ul", {class: "key"});
  drawn.forEach((line, number) => {
    const swatch = make("span", {class: "swatch"});
    redraws.push(() => { swatch.style.background = color(palette[number % 4]); });
    key.append(make("li", {}, swatch, `${line.label} (${["solid", "dashed", "dotted", "dash-dot"][number % 4]})`));
  });
  place.after(key);
}
redraw();
