"""How a report looks as a page: light and dark, narrow and wide, on paper."""

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; --page: #fbfaf7; --ink: #1d1d1b; --soft: #63625d; --line: #dedbd2; --mark: #f3ecd2;
  --link: #1c5d99; --warn: #8a4b08; --warn-page: #fdf1dd; }
@media (prefers-color-scheme: dark) { :root { --page: #17181a; --ink: #e6e4df; --soft: #a19f98; --line: #35363a;
  --mark: #3a3522; --link: #8ab8e6; --warn: #f0b968; --warn-page: #33291a; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); overflow-wrap: anywhere;
  font: 1.0625rem/1.6 system-ui, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei",
  sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 5rem; }
h1 { font-size: 1.9rem; line-height: 1.25; margin: 0 0 .75rem; text-wrap: balance; }
h2 { font-size: 1.2rem; line-height: 1.35; margin: 2.75rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--line); }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
.question { margin: 0 0 1.5rem; color: var(--soft); }
.partial { margin: 0 0 1.5rem; padding: .6rem .9rem;
  border-inline-start: 3px solid var(--warn); background: var(--warn-page); color: var(--warn); }
.summary { margin: 0; }
ol, ul { margin: 0; padding: 0; list-style: none; }
li { margin: 0 0 1rem; padding: .15rem .5rem; margin-inline: -.5rem; border-radius: 4px; }
li:target { background: var(--mark); }
.limits li { position: relative; padding-inline-start: 1.5rem; }
.limits li::before { content: "\\2013"; position: absolute; inset-inline-start: .5rem; color: var(--soft); }
.cite { font-size: .8em; font-weight: 600; text-decoration: none; white-space: nowrap;
  padding: .05em .35em; margin-inline-start: .15em;
  border: 1px solid var(--line); border-radius: 3px; }
.cite:hover { border-color: var(--link); }
.unsupported { font-size: .8em; color: var(--warn); white-space: nowrap; }
.about { display: block; font-size: .82rem; line-height: 1.5; color: var(--soft); }
.id { font-weight: 600; margin-inline-end: .35em; }
.number { font-size: .8em; color: var(--soft); margin-inline-end: .5em; font-variant-numeric: tabular-nums; }
.address { font-size: .85rem; color: var(--soft); }
blockquote { margin: .3rem 0; padding-inline-start: .8rem;
  border-inline-start: 2px solid var(--line); color: var(--soft); font-size: .95rem; }
details { font-size: .82rem; color: var(--soft); }
summary { cursor: pointer; width: fit-content; }
.nothing { color: var(--soft); }
@media (max-width: 30rem) { main { padding: 1.5rem 1rem 3rem; } h1 { font-size: 1.5rem; } }
@media print { :root { --page: #fff; --ink: #000; --soft: #444; --line: #bbb; --link: #000; } main { max-width: none; padding: 0; }
  li { break-inside: avoid; } h2 { break-after: avoid; } }
"""
