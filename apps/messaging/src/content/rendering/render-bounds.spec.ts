import { Problem } from '@customer-platform/problem-json';
import { tenantsOf } from '../../background/organizations/tenants.fixture.js';
import type { RenderScope } from '../../vocabulary/rendering/render-job.js';
import { RenderPool } from './render-pool.js';
import { DESK_PROFILE, LIQUID_PROFILE } from './render-profile.js';
import { Renderer, type RenderPurpose } from './renderer.js';

const SCOPE: RenderScope = { data: {}, contact: {}, event: null, unsubscribe_url: null };
const ENDLESS = '{% for a in (1..99999) %}{% for b in (1..99999) %}{% endfor %}{% endfor %}';

/** Sixteen organizations of one customer. */
const CHILDREN = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`child ${String(n)}`, 'customer']));

/** The codes of those that were refused so far; what waits is not waited for. */
async function refused(asked: readonly Promise<unknown>[]): Promise<(string | undefined)[]> {
  const codes: (string | undefined)[] = [];
  for (const one of asked) {
    one.catch((error: unknown) => {
      if (error instanceof Problem) codes.push(`${error.code} ${error.headers['Retry-After']}`);
    });
  }
  await new Promise(setImmediate);
  return codes;
}

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

describe('what waits to be rendered', () => {
  let renderer: Renderer;
  beforeEach(async () => {
    renderer = new Renderer(await tenantsOf(CHILDREN));
  });
  afterEach(() => renderer.onApplicationShutdown());

  const render = (lane: string, source: string, purpose: RenderPurpose): Promise<Record<string, string>> =>
    renderer.render(lane, [{ name: 'part', mode: 'text', source }], SCOPE, false, purpose);

  it('refuses a preview where four of its organization wait, and takes those of others', async () => {
    const codes = await refused(times(7, () => render('shop', ENDLESS, 'preview')));
    expect(codes).toEqual(['rate_limited 1', 'rate_limited 1']);
    expect(await refused([render('another', 'x', 'preview')])).toEqual([]);
  });

  it('refuses a check of the seventeenth that waits, and nothing that is for a send', async () => {
    const check = (purpose: RenderPurpose) => () =>
      renderer.check('shop', [{ name: 'part', mode: 'text', source: 'x' }], purpose);
    expect(await refused(times(18, check('save')))).toEqual(['rate_limited 1']);
    expect(await refused(times(100, check('send')))).toEqual([]);
  });

  it('refuses everybody when as many wait as may in all', async () => {
    const pool = new RenderPool({ ...LIQUID_PROFILE, processes: 1 }, (id) => id);
    const bounds = { ofOrganization: 4, ofTenant: 16, inAll: 64 };
    const ask = (n: number) => pool.ask(`shop ${n}`, { kind: 'derive_text', html: 'x' }, { bounds });
    // Eight are with the process, whoever's they are.
    expect(await refused(times(8 + 64 + 3, ask))).toHaveLength(3);
    pool.close();
  });

  it('says that it could not be tried where no process comes to an end with it', async () => {
    // Each process ends itself, as one is ended that gets no turn on a starved machine.
    const pool = new RenderPool({ ...LIQUID_PROFILE, milliseconds: 60_000, wallMilliseconds: 1 }, (id) => id);
    const asked = pool.ask('shop', { kind: 'derive_text', html: '<p>x</p>'.repeat(100_000) });
    await expect(asked).rejects.toMatchObject({ code: 'dependency_unavailable' });
    pool.close();
  });

  it('refuses a preview where sixteen of its tenant wait, of any of its organizations', async () => {
    // One is with each of the processes, which are given one of a tenant at a time.
    const previews = times(40, (n) => render(`child ${n % 16}`, ENDLESS, 'preview'));
    const codes = await refused(previews);
    expect(codes.length).toBeGreaterThanOrEqual(40 - 16 - DESK_PROFILE.processes);
    expect(await refused([render('another', 'x', 'preview')])).toEqual([]);
  });

  it('renders what is asked one by one between what a campaign has waiting', async () => {
    const pool = new RenderPool({ ...LIQUID_PROFILE, processes: 1 }, (id) => id);
    const ended: string[] = [];
    const ask = (source: string, apart?: string) =>
      pool
        .ask(
          'shop',
          { kind: 'render', parts: [{ name: 'part', mode: 'text', source }], scope: SCOPE, strict: false },
          { apart },
        )
        .then(({ part = '' }) => void ended.push(part));
    await ask('warm');
    const many = times(100, (n) => ask(`of the campaign ${n}`, '/campaign'));
    await Promise.all([...many, ask('alone')]);
    // Behind what a process has been given ahead, and not behind the hundred.
    expect(ended.indexOf('alone')).toBeLessThan(20);
    expect(ended).toHaveLength(102);
    pool.close();
  });

  it('gives a tenant with sixteen organizations the turns of one', async () => {
    const pool = new RenderPool({ ...LIQUID_PROFILE, processes: 1 }, (id) => CHILDREN[id] ?? id);
    const ask = (id: string, source: string) =>
      pool.ask(id, {
        kind: 'render',
        parts: [{ name: 'part', mode: 'text', source }],
        scope: SCOPE,
        strict: false,
      });
    let ended = 0;
    const end = (): number => (ended += 1);
    const slow = times(16, (n) => ask(`child ${n}`, ENDLESS).then(end, end));
    expect(await ask('victim', 'sent')).toEqual({ part: 'sent' });
    // One may stand before it, of whichever organization, and be killed for it.
    expect(ended).toBeLessThanOrEqual(1);
    expect(slow).toHaveLength(16);
    pool.close();
  });

  it('renders what is for a send while many organizations preview what does not end', async () => {
    await render('victim', 'warm', 'send');
    let ended = 0;
    const end = (): number => (ended += 1);
    const previews = times(64, (n) => render(`child ${n % 16}`, ENDLESS, 'preview').then(end, end));
    expect(await render('victim', 'sent', 'send')).toEqual({ part: 'sent' });
    expect(ended).toBeLessThan(previews.length);
  });
});
