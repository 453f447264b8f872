import { randomUUID } from 'node:crypto';
import {
  axeFindings,
  eventually,
  expectStatus,
  PlatformUnderTest,
  startChromium,
  type Browser,
  type Page,
  type Tenant,
} from '@customer-platform/testing';

const PASSWORD = 'tres tristes tigres tragaban trigo';
const PATIENCE_MS = 20_000;

/** Somebody who can sign in. */
export interface Staff {
  email: string;
  name: string;
  password: string;
}

/** How somebody looks at the Console. */
export interface Eyes {
  /** `es-CL` unless given: the language of the browser, before one is known. */
  locale?: string;
  /** `light` unless given. */
  scheme?: 'light' | 'dark';
  /** 1440 × 900 unless given. */
  width?: number;
}

/** The whole platform with its Console, and Chromium. */
export class ConsoleBench {
  private constructor(
    readonly platform: PlatformUnderTest,
    private readonly chromium: Browser,
  ) {}

  /** @param variables of apps beyond the usual ones */
  static async start(
    variables: Readonly<Record<string, Record<string, string>>> = {},
  ): Promise<ConsoleBench> {
    const platform = await PlatformUnderTest.start(variables, { pages: true });
    return new ConsoleBench(platform, await startChromium());
  }

  async end(): Promise<void> {
    await this.chromium.close();
    await this.platform.stop();
  }

  /** Somebody who was invited with a built-in role, and took the mail's link. */
  async staff(tenant: Tenant, role = 'owner', locale = 'es-CL'): Promise<Staff> {
    return this.invited(tenant, await this.roleId(tenant, role), locale);
  }

  /** Somebody whose only role holds these permissions and no other. */
  async staffWith(tenant: Tenant, permissions: readonly string[]): Promise<Staff> {
    const role = { name: `Role ${randomUUID()}`, kind: 'human', permissions };
    const made = await tenant.admin.post<{ id: string }>('/v1/identity/roles', role);
    expectStatus(made, 201);
    return this.invited(tenant, made.body.id, 'es-CL');
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
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    return new Visitor(page, this.platform.url);
  }

  /** A browser that somebody has signed in with, on the first page of the Console. */
  async signedIn(staff: Staff, eyes?: Eyes): Promise<Visitor> {
    const visitor = await this.visitor(eyes);
    await visitor.signIn(staff);
    return visitor;
  }
}

/** A person before a browser, and what the browser complained of. */
export class Visitor {
  /** What the page broke of its own policy, or threw: nothing, on a page that is right. */
  readonly complaints: string[] = [];

  constructor(
    readonly page: Page,
    private readonly origin: string,
  ) {
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      // A refusal of the API is written to the browser's console, too; pages say it in words.
      const isRefusal = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isRefusal) this.complaints.push(message.text());
    });
  }

  /**
   * By the provider's pages, to the Console's first page.
   * @param organization the name of the one to choose, by who belongs to several
   */
  async signIn({ email, password }: Staff, organization?: string): Promise<void> {
    await this.page.goto(`${this.origin}/console/`);
    await this.page.waitForURL(/\/oauth\/interactions\//);
    await this.page.getByRole('textbox').first().fill(email);
    await this.page.getByRole('button').first().click();
    await this.page.locator('input[type=password]').fill(password);
    await this.page.locator('button').first().click();
    if (organization !== undefined) await this.page.getByRole('button', { name: organization }).click();
    await this.page.waitForURL(/\/console\/o\//);
    await this.page.getByRole('heading', { level: 1 }).waitFor();
  }

  /** Opens a page of the organization that one is in: `contacts?q=ana`. */
  async open(path: string): Promise<void> {
    const slug = /\/console\/o\/([a-z0-9-]+)/.exec(this.page.url())?.[1] ?? '';
    await this.page.goto(`${this.origin}/console/o/${slug}/${path}`);
    await this.page.getByRole('heading', { level: 1 }).waitFor();
  }

  /** What axe finds. */
  findings(): Promise<string[]> {
    return axeFindings(this.page);
  }

  /** Whether one has to scroll sideways to read. */
  isTooWide(): Promise<boolean> {
    return this.page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}
