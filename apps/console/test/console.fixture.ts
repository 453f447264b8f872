import { randomUUID } from 'node:crypto';
import {
  type Browser,
  eventually,
  expectStatus,
  type Page,
  type PlatformUnderTest,
  sharedBrowser,
  sharedPlatform,
  START_WITHIN_MS,
  type Tenant,
} from '@customer-platform/testing';
import { type Staff, Visitor } from './visitor.fixture.js';

const PASSWORD = 'tres tristes tigres tragaban trigo';

/** All pages of a walk, on a machine that is busy besides. */
const WALK_WITHIN_MS = 300_000;

/** How somebody looks at the Console. */
interface Eyes {
  /** `es-CL` unless given: the language of the browser, before one is known, and of whoever is made to look. */
  locale?: string;
  /** `light` unless given. */
  scheme?: 'light' | 'dark';
  /** 1440 × 900 unless given. */
  width?: number;
}

/** A desk by day in one language, a phone by night in the other. */
export const DESK_AND_PHONE: readonly Eyes[] = [
  { scheme: 'light', width: 1_440, locale: 'es-CL' },
  { scheme: 'dark', width: 360, locale: 'en' },
];

type Cookies = Awaited<ReturnType<ReturnType<Page['context']>['cookies']>>;

/**
 * The Console of the tests of a file, on the platform that all walks share. After each test its browsers are closed, and
 * none has complained.
 */
export function consoleBench(): ConsoleBench {
  const bench = new ConsoleBench();
  beforeAll(() => bench.start(), START_WITHIN_MS);
  afterEach(() => bench.closeVisitors());
  return bench;
}

/**
 * Tests that pages have nothing to stumble over, at a desk and on a phone, which share languages and themes between them.
 * @param prepare makes what they show, and says their paths
 */
export function itHasNothingToStumbleOver(
  bench: ConsoleBench,
  prepare: () => readonly string[] | Promise<readonly string[]>,
): void {
  it.each(DESK_AND_PHONE)(
    'has nothing to stumble over at $width px, $scheme, $locale',
    async (each) => {
      const paths = await prepare();
      const visitor = await bench.newOwner(each);
      for (const path of paths) {
        await visitor.open(path);
        await visitor.settled();
        await visitor.expectAccessible();
      }
    },
    WALK_WITHIN_MS,
  );
}

/** The whole platform with its Console, Chromium, and an organization with its owner. */
export class ConsoleBench {
  platform: PlatformUnderTest;
  tenant: Tenant;
  owner: Staff;
  private chromium: Browser;
  private visitors: Visitor[] = [];
  /** Of the browser in which the owner came last. */
  private cookies: Cookies = [];

  async start(): Promise<void> {
    this.platform = await sharedPlatform();
    this.chromium = await sharedBrowser();
    this.tenant = await this.platform.tenant();
    this.owner = await this.staff(this.tenant);
  }

  async closeVisitors(): Promise<void> {
    const visitors = this.visitors.splice(0);
    await Promise.all(visitors.map((visitor) => visitor.close()));
    expect(visitors.flatMap(({ complaints }) => complaints)).toEqual([]);
  }

  /** Makes something in the organization. @returns its id */
  async made(path: string, body: object): Promise<string> {
    const answer = await this.tenant.admin.post<{ id: string }>(path, body);
    expectStatus(answer, 201);
    return answer.body.id;
  }

  /** A contact of its own. */
  async contact(fields: object = {}): Promise<{ id: string; externalId: string; email: string }> {
    const externalId = `customer-${randomUUID()}`;
    const email = `${externalId}@example.com`;
    const id = await this.made('/v1/core/contacts', { external_id: externalId, email, ...fields });
    return { id, externalId, email };
  }

  /** Sends an event as a shop does. */
  async track(event: string, external_id: string, properties: object = {}): Promise<void> {
    const body = anEvent(event, external_id, properties);
    expectStatus(await this.tenant.ingestion.post('/v1/core/track', body), 202);
  }

  /** Somebody who was invited with a built-in role, and took the mail's link. */
  async staff(tenant = this.tenant, role = 'owner', locale = 'es-CL'): Promise<Staff> {
    return this.invited(tenant, await this.roleId(tenant, role), locale);
  }

  private async staffWith(permissions: readonly string[]): Promise<Staff> {
    const role = { name: `Role ${randomUUID()}`, kind: 'human', permissions };
    return this.invited(this.tenant, await this.made('/v1/identity/roles', role), 'es-CL');
  }

  private async invited(tenant: Tenant, roleId: string, locale: string): Promise<Staff> {
    const email = `${randomUUID()}@example.com`;
    const invited = await tenant.admin.post('/v1/identity/invitations', {
      email,
      locale,
      role_ids: [roleId],
    });
    expectStatus(invited, 201);
    const token = await this.invitationToken(email);
    const accepted = await this.platform
      .as()
      .post('/v1/identity/invitations/accept', { token, name: 'Ana Rojas', password: PASSWORD });
    expectStatus(accepted, 200);
    return { email, name: 'Ana Rojas', password: PASSWORD };
  }

  /** Makes somebody a member of a further organization, with a built-in role. */
  async join(tenant: Tenant, { email }: Staff, role: string): Promise<void> {
    const [membership] = await this.platform.query<{ id: string }>(
      'identity',
      `INSERT INTO memberships (organization_id, id, user_id, created_at, updated_at)
       SELECT $1, gen_random_uuid(), id, now(), now() FROM users WHERE email = $2 RETURNING id`,
      [tenant.id, email],
    );
    const body = { membership_id: membership?.id, role_id: await this.roleId(tenant, role) };
    expectStatus(await tenant.admin.post('/v1/identity/role-assignments', body), 201);
  }

  private async roleId({ admin }: Tenant, key: string): Promise<string> {
    const path = '/v1/identity/roles?built_in=true&kind=human&limit=200';
    const { body } = await admin.get<{ data: { id: string; key: string | null }[] }>(path);
    return body.data.find((role) => role.key === key)?.id ?? '';
  }

  /** The address that the mail of an invitation leads to. */
  async invitationLink(email: string): Promise<string> {
    const text = await eventually(async () => {
      const [mail] = await this.platform.mailsTo(email);
      return mail === undefined ? Promise.reject(new Error('no mail yet')) : this.platform.mail(mail.id);
    });
    return /https?:\S+#token=\S+/.exec(text.text)?.[0] ?? '';
  }

  private async invitationToken(email: string): Promise<string> {
    const link = await this.invitationLink(email);
    return new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? '';
  }

  /** A browser of its own that nobody has signed in with. */
  async visitor({ locale = 'es-CL', scheme = 'light', width = 1_440 }: Eyes = {}): Promise<Visitor> {
    const context = await this.chromium.newContext({
      locale,
      colorScheme: scheme,
      timezoneId: 'America/Santiago',
      viewport: { width, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const visitor = new Visitor(await context.newPage(), this.platform.url);
    this.visitors.push(visitor);
    return visitor;
  }

  /** A browser that somebody has signed in with, on the first page of the Console. */
  async signedIn(staff: Staff, eyes?: Eyes): Promise<Visitor> {
    const visitor = await this.visitor(eyes);
    await visitor.signIn(staff);
    return visitor;
  }

  /** Another owner, by whose language and eyes the Console is seen. */
  async newOwner(eyes: Eyes): Promise<Visitor> {
    return this.signedIn(await this.staff(this.tenant, 'owner', eyes.locale), eyes);
  }

  /** Somebody whose only role holds these permissions. */
  async holderOf(...permissions: string[]): Promise<Visitor> {
    return this.signedIn(await this.staffWith(permissions));
  }

  /** The owner, on a page of the organization. */
  async ownerAt(path: string, eyes?: Eyes): Promise<Visitor> {
    const visitor = await this.signedIn(this.owner, eyes);
    await visitor.open(path);
    return visitor;
  }

  /**
   * The owner, back on a page of the organization: the first time it leads to signing in, then the provider knows the
   * browser, as it does one that was closed and comes back.
   */
  async ownerBackAt(path: string, eyes?: Eyes): Promise<Visitor> {
    const visitor = await this.visitor(eyes);
    const context = visitor.page.context();
    await context.addCookies(this.cookies);
    await visitor.arrive(`o/${this.tenant.slug}/${path}`, this.owner);
    this.cookies = await context.cookies();
    return visitor;
  }
}

/** An event as a shop sends it. */
export function anEvent(event: string, external_id: string, properties: object = {}): object {
  const occurred_at = new Date().toISOString();
  return { event, external_id, idempotency_key: randomUUID(), occurred_at, properties };
}
