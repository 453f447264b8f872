const PAGE_SIZE = 50;
const CHANNELS = [
  ['', 'All'],
  ['email', 'Email'],
  ['sms', 'SMS'],
  ['push', 'Push'],
  ['whatsapp', 'WhatsApp'],
];
const TABS = ['Preview', 'Text', 'Headers', 'Source'];
const WIDTHS = [
  ['wide', 'Wide'],
  ['phone', 'Phone'],
];
const byId = (id) => document.getElementById(id);
const [search, channelBar, live, list, nothing, more] = [
  'search',
  'channels',
  'live',
  'messages',
  'nothing',
  'more',
].map(byId);

const state = {
  messages: [],
  chosen: location.hash.slice(1),
  channel: '',
  tab: 'Preview',
  width: 'wide',
  read: new Set(),
  details: undefined,
  /** Of what is older than the list; null at its end. */
  cursor: null,
};

function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children.filter((child) => child !== undefined));
  return node;
}

async function fetchMessages(cursor) {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
  const words = search.value.trim();
  const correlation = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(words);
  if (words) query.set(correlation ? 'correlation_id' : 'q', words);
  if (state.channel) query.set('channel', state.channel);
  if (cursor) query.set('cursor', cursor);
  const answer = await fetch(`/messages?${query}`);
  if (!answer.ok) throw new Error((await answer.json()).detail);
  return answer.json();
}

/** Reads the newest page; what has been unrolled further down stays as it is. */
async function refresh(reset = false) {
  const { data, page, kept, taken } = await fetchMessages();
  const known = new Set(data.map(({ id }) => id));
  const overlaps = state.messages.some(({ id }) => known.has(id));
  const keepsTail = !reset && overlaps && page.next_cursor !== null;
  const tail = keepsTail ? state.messages.filter(({ id }) => !known.has(id)) : [];
  state.messages = [...data, ...tail];
  if (tail.length === 0) state.cursor = page.next_cursor;
  live.textContent = taken > kept ? `${kept} kept of ${taken} caught` : `${kept} caught`;
  live.className = '';
  document.title = kept > 0 ? `(${kept}) Mail catcher` : 'Mail catcher';
  drawList();
}

async function loadMore() {
  const { data, page } = await fetchMessages(state.cursor);
  state.messages.push(...data);
  state.cursor = page.next_cursor;
  drawList();
}

function drawList() {
  list.replaceChildren(...state.messages.map(drawRow));
  nothing.hidden = state.messages.length > 0;
  nothing.textContent =
    search.value || state.channel ? 'Nothing fits.' : 'No message yet. The next one shows here by itself.';
  more.hidden = state.cursor === null;
}

function drawRow(message) {
  const to = message.to.join(', ');
  const face = element('span', {
    className: 'face',
    textContent: (to[0] ?? '?').toUpperCase(),
    ariaHidden: 'true',
  });
  face.style.background = `hsl(${hue(to)} 52% 48%)`;
  const about = element('span', { className: 'about' });
  if (message.channel !== 'email')
    about.append(element('span', { className: 'tag', textContent: message.channel }));
  about.append(message.subject || '(no subject)');
  const row = element(
    'li',
    {
      role: 'option',
      id: `m-${message.id}`,
      className: state.read.has(message.id) ? 'read' : '',
      onclick: () => choose(message.id),
    },
    face,
    element('span', { className: 'to', textContent: to }),
    drawTime(message.received_at),
    about,
  );
  row.setAttribute('aria-selected', String(message.id === state.chosen));
  return row;
}

const hue = (text) => [...text].reduce((sum, letter) => (sum * 137 + letter.codePointAt(0) * 61) % 360, 7);

function drawTime(iso) {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  const text = today
    ? at.toLocaleTimeString([], { timeStyle: 'medium' })
    : at.toLocaleDateString([], { dateStyle: 'medium' });
  return element('time', { dateTime: iso, title: iso, textContent: text });
}

async function choose(id) {
  state.chosen = id;
  state.read.add(id);
  history.replaceState(null, '', `#${id}`);
  const answer = await fetch(`/messages/${encodeURIComponent(id)}`);
  const found = answer.ok;
  state.details = found ? await answer.json() : undefined;
  document.body.classList.toggle('reading', found);
  byId('message').hidden = !found;
  byId('empty').hidden = found;
  drawList();
  byId(`m-${id}`)?.scrollIntoView({ block: 'nearest' });
  if (found) drawMessage();
}

function drawMessage() {
  const message = state.details;
  byId('subject').textContent = message.subject || '(no subject)';
  const facts = [
    ['From', message.from],
    ['To', filters(message.to)],
    ['Caught', new Date(message.received_at).toLocaleString([], { dateStyle: 'full', timeStyle: 'medium' })],
    ['Correlation', message.correlation_id && filters([message.correlation_id], 'id')],
    ['Reply to', headerOf(message, 'reply-to')],
    ['Unsubscribe', unsubscribe(message)],
    ['Attached', message.attachments.length > 0 && attachments(message)],
  ];
  byId('facts').replaceChildren(
    ...facts
      .filter(([, value]) => value)
      .flatMap(([name, value]) => [element('dt', { textContent: name }), element('dd', {}, value)]),
  );
  const tabs = message.channel === 'email' ? TABS : ['Text', 'Source'];
  if (!tabs.includes(state.tab) || (state.tab === 'Preview' && !message.html))
    state.tab = message.html ? 'Preview' : 'Text';
  byId('tabs').replaceChildren(...tabs.filter((tab) => tab !== 'Preview' || message.html).map(drawTab));
  if (state.tab === 'Preview') byId('tabs').append(drawWidths());
  drawContent();
}

const headerOf = ({ headers }, wanted) => headers.find(({ name }) => name.toLowerCase() === wanted)?.value;

/** Where the recipient's mail program would end it, and whether by one click. */
function unsubscribe(message) {
  const address = /<(https?:[^>]+)>/.exec(headerOf(message, 'list-unsubscribe') ?? '')?.[1];
  if (!address) return undefined;
  const oneClick = headerOf(message, 'list-unsubscribe-post') === 'List-Unsubscribe=One-Click';
  const link = element('a', {
    href: address,
    target: '_blank',
    rel: 'noreferrer',
    textContent: 'Open the link',
  });
  return element('span', {}, link, oneClick ? 'one click: yes' : 'one click: no');
}

/** A click on an address or an id shows everything that has it. */
function filters(values, className = '') {
  const span = element('span', { className });
  values.forEach((value, index) => {
    if (index > 0) span.append(', ');
    span.append(
      element('button', {
        type: 'button',
        textContent: value,
        title: 'Show all that have it',
        onclick: () => searchFor(value),
      }),
    );
  });
  return span;
}

function attachments({ id, attachments: files }) {
  return element(
    'span',
    {},
    ...files.map((file, index) =>
      element('a', {
        href: `/messages/${id}/attachments/${index}`,
        textContent: `${file.filename} (${Math.ceil(file.size / 1024)} KB)`,
      }),
    ),
  );
}

function drawTab(tab) {
  const button = element('button', {
    type: 'button',
    role: 'tab',
    textContent: tab,
    onclick: () => ((state.tab = tab), drawMessage()),
  });
  button.setAttribute('aria-selected', String(tab === state.tab));
  return button;
}

/** How wide the mail is shown: as wide as there is room, or as on a phone. */
function drawWidths() {
  const group = element('span', { className: 'widths', role: 'group', ariaLabel: 'Width' });
  for (const [width, name] of WIDTHS) {
    const button = element('button', {
      type: 'button',
      textContent: name,
      onclick: () => ((state.width = width), drawMessage()),
    });
    button.setAttribute('aria-pressed', String(width === state.width));
    group.append(button);
  }
  return group;
}

async function drawContent() {
  const { id, text, headers } = state.details;
  const content = byId('content');
  content.className = state.tab === 'Preview' ? state.width : '';
  switch (state.tab) {
    case 'Preview': {
      const frame = element('iframe', { title: 'The message', src: `/messages/${id}/html` });
      frame.setAttribute('sandbox', 'allow-popups allow-popups-to-escape-sandbox');
      content.replaceChildren(frame);
      break;
    }
    case 'Headers':
      content.replaceChildren(
        element(
          'table',
          {},
          ...headers.map(({ name, value }) =>
            element('tr', {}, element('th', { textContent: name }), element('td', { textContent: value })),
          ),
        ),
      );
      break;
    case 'Source':
      content.replaceChildren(
        element('pre', { textContent: await (await fetch(`/messages/${id}/source`)).text() }),
      );
      break;
    default:
      content.replaceChildren(element('pre', { className: 'prose', textContent: text }));
  }
}

function searchFor(words) {
  search.value = words;
  document.body.classList.remove('reading');
  void refresh(true);
}

function drawChannels() {
  channelBar.replaceChildren(
    ...CHANNELS.map(([channel, name]) => {
      const button = element('button', {
        type: 'button',
        textContent: name,
        onclick: () => ((state.channel = channel), drawChannels(), refresh(true)),
      });
      button.setAttribute('aria-pressed', String(channel === state.channel));
      return button;
    }),
  );
}

function step(by) {
  const index = state.messages.findIndex(({ id }) => id === state.chosen);
  const next = state.messages[Math.min(state.messages.length - 1, Math.max(0, index + by))];
  if (next) void choose(next.id);
}

document.addEventListener('keydown', (event) => {
  if (event.target === search) {
    if (event.key === 'Escape') searchFor('');
    return;
  }
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (by) step(by);
  else if (event.key === '/') search.focus();
  else return;
  event.preventDefault();
});

let typing;
search.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(() => refresh(true), 150);
});
more.addEventListener('click', () => void loadMore());
byId('back').addEventListener('click', () => document.body.classList.remove('reading'));
byId('clear').addEventListener('click', async () => {
  await fetch('/messages', { method: 'DELETE' });
  document.body.classList.remove('reading');
  byId('message').hidden = true;
  byId('empty').hidden = false;
});

function away() {
  live.textContent = 'The mail catcher does not answer';
  live.className = 'away';
}

drawChannels();
const changes = new EventSource('/changes');
changes.onmessage = () => refresh().catch(away);
changes.onerror = away;
await refresh().catch(away);
if (state.chosen) await choose(state.chosen);
