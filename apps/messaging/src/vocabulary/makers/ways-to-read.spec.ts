import { readFileSync } from 'node:fs';
import { PERMISSIONS, type Permission } from '@customer-platform/permissions';
import type { Answer } from '@customer-platform/testing';
import { CampaignWorld } from '../../requests/campaigns/campaign.fixture.js';
import { RENDERING, WAYS_TO_READ } from './ways-to-read.fixture.js';

type Operations = Record<string, { 'x-problems'?: string[] }>;

/** The routes that say of themselves that they may refuse to have something carried out. */
function routesThatRefuse(): string[] {
  const text = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
  const { paths } = JSON.parse(text) as { paths: Record<string, Operations> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation['x-problems']?.includes('privilege_escalation'))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
}

let world: CampaignWorld;
beforeAll(async () => {
  world = await CampaignWorld.start();
});
afterAll(() => world.close());

/** What a refusal says is wanting; undefined of what was done. */
function wanting({ status, body }: Answer<object>): readonly string[] | undefined {
  if (status < 300) return undefined;
  const { code, missing, permission } = body as { code: string; missing?: string[]; permission?: string };
  if (status === 403 && code === 'privilege_escalation') return missing ?? [];
  if (status === 403 && code === 'permission_denied') return [permission ?? ''];
  throw new Error(`${String(status)} ${JSON.stringify(body)}`);
}

it(`the ${String(WAYS_TO_READ.length)} ways to have data carried out are those of all routes that can refuse it`, () => {
  expect([...new Set(WAYS_TO_READ.map(({ route }) => route))].sort()).toEqual(routesThatRefuse().sort());
});

describe.each(
  [...WAYS_TO_READ, ...RENDERING].map(
    (way) => [[way.route, way.by].filter(Boolean).join(': '), way] as const,
  ),
)('%s', (_name, { own, needed, prepare }) => {
  const setting = async () => {
    const { id, api: admin } = world.organization();
    const attempt = await prepare({ admin, segment: { type: 'segment', id: world.audience(id, []).id } });
    const by = async (permissions: readonly Permission[]) =>
      wanting(await attempt(world.messaging.app.as(id, permissions)));
    return { by };
  };

  it(`carries nothing for who has one of the ${String(PERMISSIONS.length)} permissions beside its own`, async () => {
    const { by } = await setting();
    const carried: Permission[] = [];
    for (const permission of PERMISSIONS)
      if ((await by([...own, permission])) === undefined) carried.push(permission);
    expect(carried).toEqual(needed.length === 1 ? needed : []);
  });

  it('carries nothing for who lacks one of what reads it, and says which', async () => {
    const { by } = await setting();
    for (const permission of needed)
      expect(await by(PERMISSIONS.filter((one) => one !== permission))).toEqual([permission]);
  });

  it('is anybody’s who can read it', async () => {
    const { by } = await setting();
    expect(await by([...own, ...needed])).toBeUndefined();
  });
});
