"use strict";
const root = document.documentElement;
document.getElementById("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
const table = document.getElementById("files");
const heads = [...table.tHead.rows[0].cells];
heads.forEach((head, column) => head.addEventListener("click", () => {
  const up = head.dataset.sorted !== "up";
  heads.forEach((other) => delete other.dataset.sorted);
  head.dataset.sorted = up ? "up" : "down";
  const key = (row) => column ? Number(row.cells[column].dataset.order) : row.cells[0].textContent;
  const rows = [...table.tBodies[0].rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (up ? 1 : -1));
  table.tBodies[0].append(...rows);
}));
const reveal = () => {
  const file = location.hash && document.getElementById(location.hash.slice(1));
  if (file) { file.open = true; file.scrollIntoView(); }
};
addEventListener("hashchange", reveal);
reveal();
