"use strict";
// What all parts of the page share: the data, the theme, deep links, keys. No text of the script's becomes markup here:
// everything goes through textContent.
const DATA = JSON.parse(document.getElementById("data").textContent);

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};

const significant = (value, most = 3) => {
  if (value === 0) return "0";
  const digits = Math.max(0, Math.min(most, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return value.toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits});
};
const scaled = (value, base, units) => {
  let index = 0;
  while (Math.abs(value) >= base && index < units.length - 1) { value /= base; index += 1; }
  return `${significant(value)} ${units[index]}`;
};
const shown = (value, unit) => {
  if (value === null || value === undefined) return "–";
  if (unit === "ms") return Math.abs(value) >= 10000 ? `${significant(value / 1000)} s` : value && Math.abs(value) < 0.1 ? `${significant(value * 1000)} µs` : `${significant(value)} ms`;
  if (unit === "bytes") return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
  if (unit === "FLOPs") return scaled(value, 1000, ["FLOPs", "kFLOPs", "MFLOPs", "GFLOPs", "TFLOPs"]);
  if (unit === "count") return Math.round(value).toLocaleString("en-US");
  return `${significant(value)} ${unit}`;
};
const share = (part, whole) => `${(100 * part / (whole || 1)).toFixed(1)} %`;
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// What has to be drawn again in other colours or another width.
const redraws = [];
const redraw = () => redraws.forEach((draw) => draw());

const theme = {
  stored() { try { return localStorage.getItem("tfperf-theme"); } catch (error) { return null; } },
  set(value, keep) {
    document.documentElement.dataset.theme = value;
    document.getElementById("theme").textContent = value === "dark" ? "Light" : "Dark";
    if (keep) { try { localStorage.setItem("tfperf-theme", value); } catch (error) { /* a file may have no storage */ } }
    redraw();
  },
  turn() { theme.set(document.documentElement.dataset.theme === "dark" ? "light" : "dark", true); },
};
const preference = window.matchMedia("(prefers-color-scheme: dark)");
theme.set(theme.stored() || (preference.matches ? "dark" : "light"), false);
preference.addEventListener("change", (event) => { if (!theme.stored()) theme.set(event.matches ? "dark" : "light", false); });
document.getElementById("theme").addEventListener("click", theme.turn);

// A place in the page: opens what it stands in, scrolls, moves the focus there.
const reveal = (target) => {
  for (let outer = target; outer; outer = outer.parentElement) if (outer.tagName === "DETAILS") outer.open = true;
  target.scrollIntoView({block: "start"});
  if (!target.hasAttribute("tabindex") && !target.matches("a, button, input, summary")) target.setAttribute("tabindex", "-1");
  target.focus({preventScroll: true});
  target.classList.add("flash");
  setTimeout(() => target.classList.remove("flash"), 1600);
};
const follow = () => {
  const name = decodeURIComponent(location.hash.slice(1));
  const target = name && (document.getElementById(name) || document.getElementById(name.toUpperCase()));
  if (target) reveal(target);
};
window.addEventListener("hashchange", follow);
window.addEventListener("load", follow);

// Buttons that copy a command, a change or a patch. Without access to the clipboard the text is selected.
const copy = async (button) => {
  const source = document.getElementById(button.dataset.copyFrom);
  const text = source ? source.textContent : button.dataset.copy;
  const label = button.dataset.label || (button.dataset.label = button.textContent);
  let done = true;
  try { await navigator.clipboard.writeText(text); } catch (error) {
    const box = make("textarea", {class: "unseen", "aria-hidden": "true"});
    box.value = text;
    document.body.append(box);
    box.select();
    done = document.execCommand("copy");
    box.remove();
    button.focus();
  }
  button.textContent = done ? "Copied" : "Not copied";
  setTimeout(() => { button.textContent = label; }, 1600);
};
document.addEventListener("click", (event) => { const button = event.target.closest("button.copy"); if (button) copy(button); });

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea")) return;
  if (event.key === "/") { event.preventDefault(); document.getElementById("query").focus(); }
  else if (event.key === "t") theme.turn();
  else if (event.key === "n" || event.key === "p") {
    const all = [...document.querySelectorAll("article.finding")];
    if (!all.length) return;
    const at = all.findIndex((item) => item.contains(document.activeElement));
    const next = at < 0 ? 0 : Math.min(Math.max(at + (event.key === "n" ? 1 : -1), 0), all.length - 1);
    reveal(all[next]);
  }
});

let settled = 0;
window.addEventListener("resize", () => { clearTimeout(settled); settled = setTimeout(redraw, 120); });
