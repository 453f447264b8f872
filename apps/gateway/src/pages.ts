const STYLE = `
  :root { color-scheme: light dark; --ink: #1c2333; --soft: #5b6478; --line: #d9dee8; --accent: #2a56c6; --paper: #fff; }
  @media (prefers-color-scheme: dark) { :root { --ink: #e8ebf2; --soft: #9aa4b8; --line: #323a4b; --accent: #8fb0ff; --paper: #12161f; } }
  body { margin: 0 auto; max-width: 46rem; padding: 3rem 1.25rem; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif; }
  h1 { font-size: 1.7rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin-top: 2.25rem; }
  a { color: var(--accent); } p, li { color: var(--soft); } code, pre { font: 13px/1.5 ui-monospace, monospace; color: var(--ink); }
  pre { padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; overflow-x: auto; }
  table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
`;

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style></head><body>${body}</body></html>`;
}

const CONSOLE_LINK = `
<p><a href="/console/">Open the Console</a>: what has come in, whom it concerns, and what came of it.</p>`;

/** What a person sees who opens the base URL in a browser: where to go from here. */
export function landingPage(version: string, hasConsole: boolean): string {
  return page(
    'Customer Platform API',
    `<h1>Customer Platform API</h1><p>Version ${version}. One address for events, contacts, CRM, identity, messaging and loyalty.</p>${hasConsole ? CONSOLE_LINK : ''}
<h2>Send a first event</h2>
<pre>curl -sS "$BASE_URL/v1/core/track" \\
  -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" \\
  -d '{"event":"purchase_completed","external_id":"customer-1","idempotency_key":"order-1001",
       "occurred_at":"2026-11-21T09:30:00-03:00","properties":{"amount":12990,"currency":"CLP"}}'</pre>
<p>The answer is <code>202</code> with the <code>event_id</code>, which is the correlation id of everything that follows from it.</p>
<h2>Descriptions</h2>
<ul><li><a href="/v1/openapi.json">OpenAPI 3.1</a>: every route, its permission, its latency class and its problems</li>
<li><a href="/v1/asyncapi.json">AsyncAPI 3</a>: the domain events on Kafka</li>
<li><a href="/problems">Problem codes</a>: what each error means and what to do about it</li></ul>`,
  );
}
