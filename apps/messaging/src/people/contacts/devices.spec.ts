import { newId } from '@customer-platform/database';
import { eventually, InternalPeer, type Caller } from '@customer-platform/testing';
import {
  aContact,
  aSend,
  messagingWorld,
  send,
  settled,
  shown,
  type MessagingWorld,
} from '../../messaging.fixture.js';
import { Provider } from '../../provider.fixture.js';

const DEVICES = 'POST /internal/contacts/devices';

interface Told {
  readonly contact_id: string;
  readonly identity_id: string;
  readonly value: string;
  readonly seen_at: string;
}

const provider = new Provider();
/** What core knows. */
let devices: Told[] = [];
/** A core of the release before does not: it is asked of each. */
let answersMany = true;
let core: InternalPeer;
let world: MessagingWorld;
beforeAll(async () => {
  await provider.start();
  core = await InternalPeer.start({
    [DEVICES]: (body) => {
      const { ids } = body as { ids: string[] };
      return answersMany ? { data: devices.filter(({ contact_id: id }) => ids.includes(id)) } : undefined;
    },
    'POST /internal/contacts/address': (body) => {
      const { contact_id: asked } = body as { contact_id: string };
      return { address: devices.find(({ contact_id: id }) => id === asked)?.value ?? null };
    },
  });
  world = await messagingWorld({ env: { CORE_INTERNAL_URL: core.url } });
});
beforeEach(() => {
  devices = [];
  answersMany = true;
  core.calls.length = 0;
  provider.answer = () => ({ status: 201, body: {} });
});
afterAll(async () => {
  await world.close();
  await core.close();
  await provider.stop();
});

interface Shop {
  readonly id: string;
  readonly api: Caller;
  readonly contact: ReturnType<typeof aContact>;
}

async function shop(): Promise<Shop> {
  const { id, api } = world.organization();
  const push = { provider: 'http', url: `${provider.url}/in`, secret: `whsec_${'A'.repeat(32)}` };
  await api.call('PUT', '/v1/messaging/channel-settings', { body: { channels: { push } } });
  return someone({ id, api });
}

/** An active contact that messaging knows. */
async function someone({ id, api }: Omit<Shop, 'contact'>): Promise<Shop> {
  const contact = aContact();
  await tell(id, 'core.contact.created.v1', {
    contact_id: contact.id,
    version: 1,
    changed_fields: [],
    contact,
  });
  await eventually(async () => {
    expect(await world.database.query('SELECT 1 FROM contacts WHERE id = $1', [contact.id])).toHaveLength(1);
  });
  return { id, api, contact };
}

async function tell(organizationId: string, type: string, data: object, time?: string): Promise<void> {
  const event = { type, organizationId, data, ...(time === undefined ? {} : { time }) };
  await world.probe.publish(event as Parameters<typeof world.probe.publish>[0]);
}

function device({ contact }: Shop, value: string, second: number, identity_id: string = newId()): Told {
  const seen_at = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
  return { contact_id: contact.id, identity_id, value, seen_at };
}

function told(
  { id }: Shop,
  verb: 'added' | 'seen' | 'removed',
  { contact_id, identity_id, value, seen_at }: Told,
  bare = false,
): Promise<void> {
  const told = verb === 'removed' || bare ? {} : { push_token: { value, seen_at } };
  const data = { contact_id, identity_id, type: 'custom.push_token', ...told };
  return tell(id, `core.identity.${verb}.v1`, data);
}

async function pushed({ api, contact }: Shop): Promise<unknown> {
  const body = aSend({
    channel: 'push',
    recipient: { contact_id: contact.id },
    content: { title: 'x', body: 'y' },
  });
  const id = await send(api, body);
  return (await settled(api, id, 'sent', 'failed', 'bounced', 'suppressed')).address;
}

const asked = (): number => core.calls.filter(({ route }) => route === DEVICES).length;

/** Those that are not dead. */
function stored({ contact }: Shop): Promise<{ token: string }[]> {
  return world.database.query(
    'SELECT token FROM push_tokens WHERE contact_id = $1 AND NOT dead ORDER BY seen_at',
    [contact.id],
  );
}

async function holds(one: Shop, ...tokens: string[]): Promise<void> {
  await eventually(async () => expect((await stored(one)).map(({ token }) => token)).toEqual(tokens));
}

describe('the device of a contact', () => {
  it('is asked for once; from then on events tell which is the latest', async () => {
    const one = await shop();
    const old = device(one, 'old', 1);
    devices = [old];
    expect([await pushed(one), await pushed(one)]).toEqual(['old', 'old']);
    expect(asked()).toBe(1);
    const newer = device(one, 'newer', 2);
    await told(one, 'added', newer);
    await holds(one, 'old', 'newer');
    expect(await pushed(one)).toBe('newer');
    await told(one, 'seen', { ...old, seen_at: device(one, '', 3).seen_at });
    await holds(one, 'newer', 'old');
    expect(await pushed(one)).toBe('old');
    expect(asked()).toBe(1);
    devices = [newer];
    await told(one, 'removed', old);
    await holds(one);
    expect([await pushed(one), await pushed(one)]).toEqual(['newer', 'newer']);
    expect(asked()).toBe(2);
  });

  it('is asked for anew where an event does not say which it is, or two contacts have become one', async () => {
    const one = await shop();
    devices = [device(one, 'first', 1)];
    expect(await pushed(one)).toBe('first');
    const second = device(one, 'second', 2);
    devices = [...devices, second];
    await told(one, 'added', second, true);
    await holds(one);
    expect(await pushed(one)).toBe('second');
    devices = [device(one, 'of-the-other', 3)];
    await tell(one.id, 'core.contact.merged.v1', {
      merge_id: newId(),
      survivor_id: one.contact.id,
      merged_id: newId(),
      survivor_version: 2,
      merged_version: 2,
    });
    await holds(one);
    expect(await pushed(one)).toBe('of-the-other');
    expect(asked()).toBe(3);
  });

  it('is forgotten once it is dead: the next one is reached, and core brings it back no more', async () => {
    const one = await shop();
    devices = [device(one, `alive-${one.id}`, 1), device(one, `dead-${one.id}`, 2)];
    provider.answer = ({ body }) => ({ status: body.toString().includes('dead-') ? 410 : 201, body: {} });
    expect(await pushed(one)).toBe(`dead-${one.id}`);
    await holds(one, `alive-${one.id}`);
    expect(await pushed(one)).toBe(`alive-${one.id}`);
    await tell(one.id, 'core.contact.restored.v1', {
      contact_id: one.contact.id,
      version: 2,
      changed_fields: [],
      contact: one.contact,
    });
    await holds(one);
    expect(await pushed(one)).toBe(`alive-${one.id}`);
    expect(asked()).toBe(2);
  });

  it('is reached again once its suppression is lifted', async () => {
    const one = await shop();
    devices = [device(one, `only-${one.id}`, 1)];
    provider.answer = () => ({ status: 410, body: {} });
    expect(await pushed(one)).toBe(`only-${one.id}`);
    await holds(one);
    const { body } = await one.api.get<{ data: { id: string; reason: string }[] }>(
      '/v1/messaging/suppressions',
    );
    expect(body.data).toMatchObject([{ reason: 'invalid_token' }]);
    provider.answer = () => ({ status: 201, body: {} });
    await one.api.call('DELETE', `/v1/messaging/suppressions/${body.data[0]?.id ?? ''}`);
    await holds(one, `only-${one.id}`);
    expect(await pushed(one)).toBe(`only-${one.id}`);
    expect(asked()).toBe(1);
  });

  it('is believed of neither where it is said of two contacts: both are asked for anew', async () => {
    const one = await shop();
    const second = await someone(one);
    const theirs = device(one, `of-one-${one.id}`, 1);
    devices = [theirs];
    expect(await pushed(one)).toBe(theirs.value);
    // Of a contact that is merged into the first, told late: on another partition.
    await told(second, 'added', { ...theirs, contact_id: second.contact.id });
    await holds(one);
    expect(await stored(second)).toEqual([]);
    expect(await pushed(one)).toBe(theirs.value);
    expect(asked()).toBe(2);
  });

  it('is asked for anew where a word is older than the answer', async () => {
    const one = await shop();
    const first = device(one, `first-${one.id}`, 1);
    devices = [first];
    expect(await pushed(one)).toBe(first.value);
    const gone = device(one, `gone-${one.id}`, 2);
    await tell(
      one.id,
      'core.identity.added.v1',
      {
        contact_id: gone.contact_id,
        identity_id: gone.identity_id,
        type: 'custom.push_token',
        push_token: { value: gone.value, seen_at: gone.seen_at },
      },
      new Date(Date.now() - 60_000).toISOString(),
    );
    await holds(one);
    expect(await pushed(one)).toBe(first.value);
    expect(asked()).toBe(2);
  });

  it('is asked for of a core of the release before, for each push', async () => {
    const one = await shop();
    answersMany = false;
    devices = [device(one, `old-core-${one.id}`, 1)];
    expect([await pushed(one), await pushed(one)]).toEqual([`old-core-${one.id}`, `old-core-${one.id}`]);
    answersMany = true;
    expect(await pushed(one)).toBe(`old-core-${one.id}`);
    await holds(one, `old-core-${one.id}`);
  });

  it('goes with the person, and comes back by no word of before', async () => {
    const one = await shop();
    const only = device(one, 'mine', 1);
    devices = [only];
    await pushed(one);
    await holds(one, 'mine');
    await tell(one.id, 'core.contact.erased.v1', {
      contact_id: one.contact.id,
      version: 2,
      changed_fields: [],
      contact: null,
    });
    await holds(one);
    await told(one, 'added', only);
    // Told after it, of the same contact.
    await tell(one.id, 'core.consent.recorded.v1', {
      contact_id: one.contact.id,
      purpose: 'marketing',
      channel: null,
      status: 'granted',
      previous: null,
    });
    await eventually(async () => {
      const rows = await world.database.query('SELECT 1 FROM consents WHERE contact_id = $1', [
        one.contact.id,
      ]);
      expect(rows).toHaveLength(1);
    });
    expect(await stored(one)).toEqual([]);
  });

  it('is waited for where it has to be asked for and core is silent', async () => {
    const one = await shop();
    devices = [device(one, 'late', 1)];
    core.outage(true);
    const id = await send(
      one.api,
      aSend({
        channel: 'push',
        recipient: { contact_id: one.contact.id },
        content: { title: 'x', body: 'y' },
      }),
    );
    expect((await shown(one.api, id)).address).toBeNull();
    core.outage(false);
    expect((await settled(one.api, id, 'sent')).address).toBe('late');
  });
});
