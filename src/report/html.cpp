#include "goblin/report/html.hpp"

namespace goblin::report {
namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --text: #1c1e21; --soft: #5f6670; --line: #d9dde2; --back: #ffffff; --card: #f6f7f9;
  --good: #157347; --bad: #b42318; --open: #8a6100; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --soft: #a0a7b1; --line: #33383f; --back: #14171a;
  --card: #1c2024; --good: #4cc38a; --bad: #ff8f84; --open: #e2b34a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1.25rem 4rem; background: var(--back); color: var(--text);
  font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0.5rem 0 0.25rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 0.5rem; border-top: 1px solid var(--line); padding-top: 1.25rem; }
h3 { font-size: 1.05rem; margin: 1.75rem 0 0.4rem; }
p, figcaption, li { max-width: 48rem; }
.soft, figcaption { color: var(--soft); }
code { font: 0.88em ui-monospace, monospace; background: var(--card); padding: 0.1em 0.3em; border-radius: 4px;
  overflow-wrap: anywhere; }
nav a { margin-right: 1rem; white-space: nowrap; }
a { color: inherit; }
figure { margin: 1.25rem 0; }
.panels { display: grid; gap: 0.75rem 1rem; }
.panels svg { width: 100%; height: auto; display: block; }
@media (min-width: 60rem) { .columns-2 { grid-template-columns: repeat(2, 1fr); }
  .columns-3 { grid-template-columns: repeat(3, 1fr); } .columns-1 { max-width: 46rem; } }
@media (min-width: 34rem) and (max-width: 59.99rem) { .columns-2, .columns-3 { grid-template-columns: repeat(2, 1fr); } }
.scroll { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.75rem 0.3rem 0; text-align: right; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
th:first-child, td:first-child, .text { text-align: left; }
td:first-child { min-width: 9rem; }
.number { white-space: nowrap; }
.best { font-weight: 700; }
.verdict { font-weight: 650; white-space: nowrap; text-align: left; }
.holds { color: var(--good); } .does-not-hold { color: var(--bad); } .not-decided { color: var(--open); }
.claim { border-left: 4px solid var(--line); padding: 0.1rem 0 0.1rem 0.9rem; margin: 0.9rem 0; }
.claim.holds { border-color: var(--good); color: inherit; } .claim.does-not-hold { border-color: var(--bad);
  color: inherit; } .claim.not-decided { border-color: var(--open); color: inherit; }
.claim p { margin: 0.15rem 0; }
.swatch { display: inline-block; width: 0.7em; height: 0.7em; border-radius: 2px; margin-right: 0.45em; }
details { margin: 0.5rem 0; } summary { cursor: pointer; color: var(--soft); }
@media (max-width: 34rem) { body { font-size: 15px; padding: 1rem 0.9rem 3rem; } h1 { font-size: 1.5rem; } }
)";

}  // namespace

std::string_view html_style() { return style; }

std::string html_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace goblin::report
