import type { RenderFailureReason } from '../../vocabulary/rendering/render-job.js';

/** A template that means harm, and how it ends. */
interface HostileTemplate {
  readonly name: string;
  readonly source: string;
  readonly code: RenderFailureReason['code'];
}

const repeat = (text: string, times: number): string => text.repeat(times);
const filters = (filter: string, times: number): string => repeat(` | ${filter}`, times);
/** A text of ten times two to the power of `doublings`. */
const grown = (doublings: number, seed = '0123456789'): string =>
  `{% assign x = "${seed}" %}${repeat('{% assign x = x | append: x %}', doublings)}`;
const nested = (tag: string, end: string, inner: string, depth: number): string =>
  repeat(tag, depth) + inner + repeat(end, depth);

const limit = (entries: Record<string, string>): HostileTemplate[] =>
  Object.entries(entries).map(([name, source]) => ({ name, source, code: 'render_limit_exceeded' }));

/** What would take time, memory or room without end. */
export const BOMBS: readonly HostileTemplate[] = limit({
  'loops in loops': nested('{% for a in (1..9999) %}', '{% endfor %}', '{% assign x = a %}', 5),
  'loops in loops, as lines': `{% liquid
    for a in (1..9999)
      for b in (1..9999)
        for c in (1..9999)
          assign x = c
        endfor
      endfor
    endfor %}`,
  'tables in tables': nested('{% tablerow a in (1..9999) cols:1 %}', '{% endtablerow %}', 'x', 3),
  'a range without end': '{% for a in (1..999999999) %}{% endfor %}',
  'a range as a list': '{{ (1..999999999) | join: "" }}',
  'a range that is counted': '{% assign a = (1..999999999) %}{{ a | size }}',
  'a range of ranges': '{% for a in (1..99999) %}{% assign b = (1..99999) | reverse %}{% endfor %}',
  'a year of a billion digits': '{{ "now" | date: "%1000000000Y" }}',
  'many padded fields': `{{ "now" | date: "${repeat('%99999Y', 400)}" }}`,
  'a text that doubles': `${grown(40)}{{ x }}`,
  'a text that doubles unseen': `${grown(40)}done`,
  'a text between all its characters': `${grown(12)}{{ x | replace: "", x }}`,
  'a text joined by itself': `${grown(12)}{{ x | split: "" | join: x }}`,
  'a text that replaces its own digits': `${grown(6)}{{ x${filters('replace: "1", x', 12)} }}`,
  'captures that double': `{% capture x %}0123456789{% endcapture %}${repeat('{% capture x %}{{ x }}{{ x }}{% endcapture %}', 40)}`,
  'lists that double': `{% assign x = "a,b" | split: "," %}${repeat('{% assign x = x | concat: x %}', 40)}`,
  'a list of lists': `{% assign x = "a,b" | split: "," %}${repeat('{% assign x = x | push: x %}', 40)}{{ x | json }}`,
  'quotes quoted again': `{{ '"' | json${filters('json', 40)} }}`,
  'percent signs encoded again': `${grown(14, '%')}{{ x${filters('url_encode', 20)} }}`,
  'base 64 of base 64': `${grown(8)}{{ x${filters('base64_encode', 60)} }}`,
  'an output that grows': '{% for a in (1..60000) %}0123456789{% endfor %}',
  'an output of nothing but spaces': `{% for a in (1..9000) %}${repeat(' ', 100)}{% endfor %}`,
  'a pattern that starts and never ends': `${grown(18, '<script ')}{{ x | strip_html }}`,
  'a comment that starts and never ends': `${grown(18, '<!-- ')}{{ x | strip_html }}`,
  'a condition for each of many':
    '{{ (1..999999) | where_exp: "a", "a contains 1 and a contains 2" | size }}',
  'groups of many': '{% assign a = (1..99999) | group_by_exp: "a", "a" | group_by_exp: "a", "a.name" %}',
  'many that are sorted': `{% for a in (1..9999) %}{% assign b = (1..9999) | sort_natural | reverse %}{% endfor %}`,
});

/** What cannot be a template at all. */
export const MALFORMED: readonly HostileTemplate[] = [
  ...[
    ['a file', '{% include "/etc/passwd" %}'],
    ['a partial', '{% render "../../secret" %}'],
    ['a layout', '{% layout "/etc/passwd" %}'],
    ['a filter that leaves values as they are', '{{ data.html | raw }}'],
    ['a block that leaves values as they are', '{% raw %}{{ data.html }}{% endraw %}'],
    ['a filter by the name of a prototype', '{{ data.html | constructor }}'],
    ['a filter by the name of all prototypes', '{{ data.html | __proto__ }}'],
    ['a tag by the name of a prototype', '{% constructor %}'],
    ['a tag by the name of all prototypes', '{% __proto__ %}'],
    ['code', '{{ (function () { return process })() }}'],
    ['an end without a beginning', '{% endfor %}'],
    ['a beginning without an end', repeat('{% for a in data.list %}', 500)],
  ].map(([name = '', source = '']) => ({ name, source, code: 'template_invalid' as const })),
];

/** Deeper than any stack. */
export const TOO_DEEP = nested('{% if true %}', '{% endif %}', 'x', 50_000);

/** What looks for more than it was given. None of it is there: a strict template fails, another shows nothing. */
export const PROTOTYPES: readonly string[] = [
  '{{ data.__proto__ }}',
  '{{ data["__proto__"]["toString"] }}',
  '{{ data["constr" | append: "uctor"] }}',
  '{{ data.constructor.constructor }}',
  '{{ data.list.constructor }}',
  '{{ data.html.constructor.prototype }}',
  '{{ data.list.first.constructor }}',
  '{{ data.list.__proto__.map }}',
  '{{ contact.__proto__ }}',
  '{{ contact.attributes.__lookupGetter__ }}',
  '{{ event.__defineGetter__ }}',
  '{{ __proto__ }}',
  '{{ constructor }}',
  '{{ hasOwnProperty }}',
  '{{ globalThis.process }}',
  '{{ process.env }}',
  '{{ require }}',
  '{{ this.constructor }}',
  '{{ forloop.constructor }}',
  '{% assign k = "__proto__" %}{{ data[k] }}',
  '{% assign k = "constructor" %}{{ data.list[k] }}',
];

/** The same through filters, which read fields of their own accord. */
export const PROTOTYPE_FILTERS: readonly string[] = [
  '{{ data.people | map: "constructor" | join: "" }}',
  '{{ data.people | map: "__proto__" | join: "" }}',
  '{{ data.people | map: "__proto__.constructor.name" | join: "" }}',
  '{{ data.people | where: "constructor" | map: "name" | join: "" }}',
  '{{ data.people | where_exp: "p", "p.constructor" | map: "name" | join: "" }}',
  '{{ data.people | find: "__proto__" }}',
  '{{ data.people | find_exp: "p", "p.__proto__.constructor" }}',
  '{{ data.people | reject_exp: "p", "true" | map: "constructor" | join: "" }}',
  '{{ data.list | map: "constructor" | join: "" }}',
  '{% for field in data.people[0].__proto__ %}{{ field }}{% endfor %}',
  '{% for p in data.people %}{{ p.constructor }}{{ p.__proto__ }}{% endfor %}',
];

/** What would change things for whoever is rendered next in the same process. */
export const POLLUTIONS: readonly string[] = [
  '{% assign __proto__ = data.evil %}{% assign constructor = data.evil %}{% assign toString = "x" %}',
  '{% capture __proto__ %}x{% endcapture %}{% capture constructor %}x{% endcapture %}',
  '{% increment __proto__ %}{% decrement constructor %}{% increment hasOwnProperty %}',
  '{% assign data = data.evil %}{% assign contact = data.evil %}',
  '{% for __proto__ in data.people %}{{ __proto__.name }}{% endfor %}',
  '{% cycle "__proto__": "a", "b" %}{% cycle "constructor": "a", "b" %}',
  '{% assign x = data.people | group_by: "__proto__" %}{% assign y = data.people | group_by: "constructor" %}',
];
