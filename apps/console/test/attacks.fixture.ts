import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Page } from '@customer-platform/testing';
import type { ConsoleBench } from './console.fixture.js';

/** Sets `window.hacked` by whichever way is open to it, and breaks out of attributes, texts and templates. */
const HOSTILE = `"'><img src=x onerror="hacked=1"><svg onload="hacked=1">` + '\u202E${hacked=1}{{hacked=1}}';
const LINK = 'javascript:window.hacked=1';

/**
 * A page of somebody else, of another site than the Console's (`localhost`, which is not `127.0.0.1`). It answers whatever
 * is asked for with an empty page, and notes it.
 */
export class Stranger {
  /** What was asked of it, and `connected` for each connection. */
  readonly asked: string[] = [];

  private constructor(private readonly server: Server) {
    server.on('connection', () => this.asked.push('connected'));
    server.on('request', ({ url }, response) => {
      this.asked.push(url ?? '');
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Stranger</title>');
    });
  }

  static async start(): Promise<Stranger> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
    return new Stranger(server);
  }

  get url(): string {
    return `http://localhost:${String((this.server.address() as AddressInfo).port)}`;
  }

  /** Its page, in a browser that somebody is signed in with; it hears every message that is sent to it. */
  async open(tab: Page): Promise<Page> {
    const page = await tab.context().newPage();
    await page.goto(`${this.url}/own`);
    await page.evaluate(`window.heard = []; addEventListener('message', ({ data }) => heard.push(data))`);
    return page;
  }

  /** Forgets what was asked so far, once a connection of our own shows that all before it have been noted. */
  async settled(): Promise<string[]> {
    const { port, address: host } = this.server.address() as AddressInfo;
    const before = this.asked.length;
    await new Promise<void>((resolve) => {
      const socket = connect({ port, host }, () => socket.end(() => resolve()));
    });
    while (this.asked.length === before) await new Promise(setImmediate);
    const said = this.asked.splice(0);
    said.splice(said.lastIndexOf('connected'), 1);
    return said;
  }

  async end(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Everything in an organization that people or programs name, named to do harm. @returns the pages that show it */
export async function nameAllToDoHarm(bench: ConsoleBench): Promise<string[]> {
  const external_id = `${randomUUID()}${HOSTILE}`;
  const names = { first_name: HOSTILE.slice(0, 100), last_name: LINK };
  const contact = await bench.made('/v1/core/contacts', {
    external_id,
    ...names,
    attributes: { site: LINK },
  });
  const other = await bench.made('/v1/core/contacts', { external_id: `${randomUUID()}${HOSTILE}`, ...names });
  await bench.track(HOSTILE, external_id, { [HOSTILE]: HOSTILE, url: LINK, href: { src: LINK } });
  await bench.made('/v1/crm/notes', { contact_id: contact, body: `${HOSTILE}\n[x](${LINK})` });
  const rule = { event: HOSTILE, count: { op: 'gte', value: 1 } };
  const segment = await bench.made('/v1/core/segments', { name: `${HOSTILE}1`, description: HOSTILE, rule });
  const template = await bench.made('/v1/messaging/templates', {
    name: HOSTILE.replaceAll('{', '').slice(0, 120),
    channel: 'email',
    default_locale: 'en',
    locales: { en: { subject: HOSTILE.replaceAll('{', ''), html: `<a href="${LINK}">x</a>` } },
  });
  const slug = `thing_${randomUUID().slice(0, 8)}`;
  const text = { key: 'text', label: HOSTILE.slice(0, 60), type: 'string', indexed: true, required: true };
  const owner = {
    key: 'owner',
    label: HOSTILE.slice(0, 60),
    type: 'reference',
    target: 'contact',
    indexed: true,
  };
  await bench.made('/v1/crm/object-definitions', { slug, name: HOSTILE.slice(0, 80), fields: [text, owner] });
  const object = await bench.made(`/v1/crm/objects/${slug}`, { values: { text: HOSTILE, owner: contact } });
  const list = await bench.made('/v1/crm/lists', { name: HOSTILE.slice(0, 100) });
  const campaign = await bench.made('/v1/messaging/campaigns', {
    name: HOSTILE.slice(0, 120),
    channel: 'email',
    template_id: template,
    audience: { type: 'list', id: list },
    data: { [HOSTILE]: LINK },
  });
  await bench.made('/v1/messaging/suppressions', {
    channel: 'email',
    address: 'a@example.com',
    note: HOSTILE,
  });
  const role = await bench.made('/v1/identity/roles', {
    name: HOSTILE.slice(0, 80),
    description: HOSTILE,
    kind: 'human',
    permissions: ['core.contacts.read'],
  });
  const machine = { name: `m${HOSTILE}`.slice(0, 80), kind: 'machine', permissions: ['core.contacts.read'] };
  const role_id = await bench.made('/v1/identity/roles', machine);
  const key = await bench.made('/v1/identity/api-keys', { name: HOSTILE.slice(0, 80), role_id });
  const hook = { name: HOSTILE, url: 'http://127.0.0.1:9/"><img/onerror=hacked=1>', events: ['core.*'] };
  const endpoint = await bench.made('/v1/messaging/webhook-endpoints', { ...hook, enabled: false });
  const redirect_uris = [`https://app.example/${encodeURIComponent(HOSTILE)}`];
  await bench.made('/v1/identity/oauth-clients', {
    name: HOSTILE.slice(0, 80),
    type: 'public',
    redirect_uris,
  });
  const child = { name: HOSTILE.slice(0, 80), slug: `child-${randomUUID().slice(0, 8)}` };
  await bench.made('/v1/identity/organizations', child);
  await bench.made('/v1/identity/invitations', {
    email: `'&{{hacked}}/onload=hacked|@example.com`,
    role_ids: [role],
  });
  const objects = { thing: slug, object };
  const things = { contact, other, list, segment, template, role, key, endpoint, campaign };
  return pagesShowing({ ...things, ...objects });
}

/** Every page of the menu and below it. */
function pagesShowing(
  ids: Record<
    | 'contact'
    | 'other'
    | 'list'
    | 'segment'
    | 'template'
    | 'role'
    | 'key'
    | 'endpoint'
    | 'campaign'
    | 'thing'
    | 'object',
    string
  >,
) {
  const { contact, other, list, segment, template, role, key, endpoint, campaign, thing, object } = ids;
  return [
    '',
    'events',
    'events/earlier',
    'contacts',
    `contacts?q=${encodeURIComponent(HOSTILE)}`,
    ...['', '/profile', '/consents', '/notes', '/activities', '/objects', '/points'].map(
      (part) => `contacts/${contact}${part}`,
    ),
    'contacts/lists',
    `contacts/lists?open=${list}`,
    'contacts/merge-suggestions',
    `contacts/merge?survivor=${contact}&merged=${other}`,
    'segments',
    `segments/${segment}`,
    `segments/${segment}/edit`,
    'objects',
    `objects/${thing}?open=${object}`,
    'messages',
    `messages/campaigns?open=${campaign}`,
    'messages/deliverability?group_by=campaign',
    'messages/templates',
    `messages/templates/${template}`,
    'messages/suppressions',
    'messages/sender-domains',
    'loyalty',
    `developers/keys?open=${key}`,
    `developers/webhooks?open=${endpoint}`,
    'developers/dead-letters',
    'developers/taxonomies?open=saas',
    'developers/reference',
    ...[
      '',
      '/children',
      '/people',
      '/invitations',
      '/roles',
      `/roles/${role}`,
      '/clients',
      '/sso',
      '/sessions',
    ].map((part) => `organization${part}`),
    'audit',
    'account',
  ];
}

/** A mail that tries whatever a mail could: to run, to ask, to lead away. */
export function hostileMail(url: string): string {
  return `
    <html><head>
    <link rel="preconnect" href="${url}"><link rel="dns-prefetch" href="${url}"><link rel="prefetch" href="${url}/hint">
    <link rel="stylesheet" href="${url}/sheet"><link rel="icon" href="${url}/icon">
    <meta http-equiv="refresh" content="0;url=${url}/refresh"><base href="${url}/base/">
    <style>@import url(${url}/import); @font-face { font-family: x; src: url(${url}/font) }
      p { background: url(${url}/background); font-family: x }</style></head>
    <body background="${url}/body"><script>hacked = 1; fetch('${url}/script')</script>
    <p style="color: rgb(1, 2, 3)">Gracias por tu compra</p>
    <img src="${url}/image" onerror="document.body.innerHTML = 'hacked'"><img srcset="${url}/set 2x">
    <svg onload="document.body.innerHTML = 'hacked'"><image href="${url}/svg"/></svg>
    <video src="${url}/video" poster="${url}/poster"></video><object data="${url}/object"></object>
    <iframe src="${url}/frame"></iframe><iframe srcdoc="<img src='${url}/nested'>"></iframe>
    <div><template shadowrootmode="open"><link rel="stylesheet" href="${url}/shadow"></template></div>
    <form action="${url}/form"><button>Responder</button></form>
    <a href="${url}/plain" ping="${url}/ping">Plano</a> <a href="${url}/top" target="_top">Arriba</a>
    <a href="javascript:document.body.innerHTML = 'hacked'">Guion</a>
    <math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;link rel=preconnect href='${url}'&gt;">
    </body></html>`;
}
