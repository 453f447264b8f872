import { SigningKeys } from '@customer-platform/database';
import { DatabaseFault, expectStatus } from '@customer-platform/testing';
import { createHash } from 'node:crypto';
import type { IdentityBench, TestOrganization } from '../identity-app.fixture.js';
import { Invitations } from '../invitations/invitation.fixture.js';
import { Browser, ISSUER, TestClient } from '../oauth/browser.fixture.js';
import { ID_TOKEN_ALGORITHM, ID_TOKENS } from '../oauth/id-tokens.js';
import { codeOf, PageVisitor, PASSWORD, People, type Person, type Shown } from './page-visitor.fixture.js';

/** Who signs in, by what they come past. */
export const SCENARIOS = ['plain', 'factor', 'recovery', 'several', 'enrol', 'consent', 'join'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** The forms of the pages, in the order in which one of a page is told; `leave` is the way out. */
const STEPS = [
  'allow',
  'join',
  'organization',
  'continue',
  'enrol',
  'recovery',
  'factor',
  'password',
  'email',
] as const;
export type Step = (typeof STEPS)[number] | 'leave';

/** Which steps a scenario comes past. */
export const PATHS: Readonly<Record<Scenario, readonly Step[]>> = {
  plain: ['email', 'password', 'leave'],
  factor: ['email', 'password', 'factor', 'leave'],
  recovery: ['email', 'password', 'factor', 'recovery', 'leave'],
  several: ['email', 'password', 'organization', 'leave'],
  enrol: ['email', 'password', 'enrol', 'continue', 'leave'],
  consent: ['email', 'password', 'leave', 'allow'],
  join: ['email', 'password', 'join', 'leave'],
};

/** What happens at a step. */
export const DISTURBANCES = [
  'again at once',
  'again after a lost answer',
  'back button',
  'second tab of another organization',
  'database away: sign_ins',
  'database away: oauth_browser_states',
  'database away: sessions',
  'database away: oauth_tokens',
  'key rotated',
  'rights changed',
  'person suspended',
  'factor reset',
] as const;
export type Disturbance = (typeof DISTURBANCES)[number];

/** How a walk ended; whatever else comes of one is a fault of the pages. */
export type Outcome = 'signed in' | 'refused, with why and a way on' | 'the application was told';

/** How a walk may end with it. */
export function endsOf(disturbance: Disturbance): readonly Outcome[] {
  if (disturbance === 'person suspended')
    return ['signed in', 'refused, with why and a way on', 'the application was told'];
  return disturbance.startsWith(AWAY) ? ['signed in', 'the application was told'] : ['signed in'];
}

const MOST_ACTIONS = 18;
const AWAY = 'database away: ';
/** Who is asked again has a new code by then; no walk waits for it. */
const FORGET_STEP = 'UPDATE mfa_factors SET last_step = NULL WHERE user_id = $1 AND confirmed_at IS NOT NULL';

const SUSPEND = `UPDATE users SET status = 'suspended' WHERE id = $1`;
const AGE_KEYS = `UPDATE signing_keys SET usable_from = usable_from - interval '2 days' WHERE purpose = $1`;

interface Walker {
  readonly scenario: Scenario;
  readonly organization: TestOrganization;
  readonly client: TestClient;
  readonly person: Person;
  readonly visitor: PageVisitor;
  /** Of the factor that they have, or have set up on the way. */
  secret: string | undefined;
  readonly recoveryCodes: string[];
  readonly invitation: string | undefined;
}

/** Walks through the sign-in without a browser, with one disturbance at one step. */
export class SignInWalk {
  private readonly people: People;
  private readonly guests: Invitations;
  private rootClient: TestClient | undefined;

  constructor(private readonly bench: IdentityBench) {
    this.people = new People(bench);
    this.guests = new Invitations(bench);
  }

  /** @throws where it ends on a page that leads nowhere, or says nothing */
  async walk(scenario: Scenario, at: Step, disturbance: Disturbance): Promise<Outcome> {
    const walker = await this.prepare(scenario);
    const { client, visitor, invitation } = walker;
    let disturbed = false;
    const further: Record<string, string> = invitation === undefined ? {} : { invitation };
    const begun = await visitor.authorize(client, further);
    let { shown } = begun;
    let before: (() => Promise<Shown>) | undefined;
    for (let action = 0; action < MOST_ACTIONS; action += 1) {
      const { searchParams } = shown.url;
      const code = searchParams.get('code');
      if (shown.status === 0 && code !== null) return this.redeemed(walker, code, begun.verifier);
      if (shown.status === 0) return 'the application was told';
      const step = stepOf(shown);
      if (step === undefined) {
        shown = await this.follow(walker, shown);
        continue;
      }
      if (step === 'password' && shown.status === 422 && disturbed) return 'refused, with why and a way on';
      await this.bench.database.query(FORGET_STEP, [walker.person.userId]);
      const act = this.take(walker, step, shown);
      const isHere: boolean = step === at && !disturbed;
      disturbed ||= isHere;
      shown = isHere ? await this.disturb(walker, disturbance, act, before) : await act();
      before = act;
    }
    throw new Error(`It goes on and on: ${shown.title} ${shown.url.pathname}`);
  }

  private async prepare(scenario: Scenario): Promise<Walker> {
    const organization = await this.bench.organization();
    const home = scenario === 'join' ? await this.bench.organization() : organization;
    const person = await this.people.person(home, { isMember: false });
    if (scenario !== 'join') await this.bench.member(organization, person.userId, 'analyst');
    const hasFactor = scenario === 'factor' || scenario === 'recovery';
    const factor = hasFactor ? await this.people.factorFor(organization, person) : undefined;
    if (scenario === 'several') await this.bench.join((await this.bench.organization()).id, person.userId);
    if (scenario === 'enrol') {
      const path = `/v1/identity/organizations/${organization.id}`;
      expectStatus(await organization.admin.patch(path, { settings: { mfa_policy: 'required' } }), 200);
    }
    const client = await this.clientFor(scenario, organization);
    return {
      scenario,
      organization,
      client,
      person,
      visitor: new PageVisitor(new Browser(this.bench), ISSUER),
      secret: factor?.secret,
      recoveryCodes: factor?.recoveryCodes ?? [],
      invitation: scenario === 'join' ? await this.invite(organization, person) : undefined,
    };
  }

  private async clientFor(scenario: Scenario, organization: TestOrganization): Promise<TestClient> {
    if (scenario === 'several' || scenario === 'join') {
      this.rootClient ??= await TestClient.ofRoot(this.bench);
      return this.rootClient;
    }
    return TestClient.register(this.bench, organization, {
      organizations: scenario === 'consent' ? 'tree' : 'own',
    });
  }

  private async invite(organization: TestOrganization, { email }: Person): Promise<string> {
    const token = await this.guests.token(organization, await this.guests.invite(organization, { email }));
    return `${token.slice(4, 52)}.${createHash('sha256').update(token).digest('base64url')}`;
  }

  /** What a person does on a page, to be done once or more. */
  private take(walker: Walker, step: Step, page: Shown): () => Promise<Shown> {
    const { person, visitor, scenario } = walker;
    if (step === 'leave') return () => visitor.open(page.refresh ?? '', { stay: true });
    if (step === 'factor' && scenario === 'recovery')
      return () => visitor.send(page, 'use-recovery', {}, { stay: true });
    const fields: Record<string, string> = {};
    if (step === 'email') fields['email'] = person.email;
    if (step === 'password') Object.assign(fields, { email: person.email, password: PASSWORD });
    if (step === 'recovery') fields['code'] = walker.recoveryCodes.shift() ?? '';
    if (step === 'enrol') walker.secret = secretOn(page);
    if (step === 'enrol' || step === 'factor') fields['code'] = codeOf(walker.secret ?? '');
    return () => visitor.send(page, step, fields, { stay: true });
  }

  private async disturb(
    walker: Walker,
    disturbance: Disturbance,
    act: () => Promise<Shown>,
    before: (() => Promise<Shown>) | undefined,
  ): Promise<Shown> {
    const { visitor } = walker;
    if (disturbance === 'again at once') {
      const [, last] = await Promise.all([act(), act()]);
      return last;
    }
    if (disturbance === 'again after a lost answer') {
      const knows = visitor.browser.copy();
      await act();
      visitor.browser.become(knows);
      return act();
    }
    if (disturbance === 'back button') {
      await act();
      return (before ?? act)();
    }
    if (disturbance.startsWith(AWAY)) return this.whileAway(disturbance.slice(AWAY.length), act);
    await this.change(walker, disturbance);
    return act();
  }

  /** The database fails at one statement of what is done, the first that writes that table. */
  private async whileAway(table: string, act: () => Promise<Shown>): Promise<Shown> {
    const faults = await Promise.all(
      (['INSERT', 'UPDATE'] as const).map((on) =>
        DatabaseFault.in(this.bench.database, { table, on, when: 'true', code: '57P03', times: 1 }),
      ),
    );
    try {
      return await act();
    } finally {
      for (const fault of faults) await fault.mend();
    }
  }

  private async change(walker: Walker, disturbance: Disturbance): Promise<void> {
    const { person, organization } = walker;
    if (disturbance === 'second tab of another organization') await this.anotherTab(walker);
    if (disturbance === 'key rotated') await this.rotate();
    // Whoever is a member elsewhere is managed by nobody: an operator does it.
    if (disturbance === 'person suspended') await this.bench.database.query(SUSPEND, [person.userId]);
    if (disturbance === 'factor reset') await this.bench.operator.resetFactors(person.email);
    if (disturbance === 'rights changed') {
      const path = `/v1/identity/organizations/${organization.id}`;
      expectStatus(await organization.admin.patch(path, { settings: { mfa_policy: 'required' } }), 200);
    }
  }

  private async rotate(): Promise<void> {
    await this.bench.database.query(AGE_KEYS, [ID_TOKENS]);
    const keys = this.bench.app.app.get(SigningKeys, { strict: false });
    await keys.rotate(ID_TOKENS, -2 * 3_600_000, ID_TOKEN_ALGORITHM);
  }

  /** Somebody of another organization signs in in the same browser; its sign-in is not ended. */
  private async anotherTab({ visitor, person }: Walker): Promise<void> {
    const organization = await this.bench.organization();
    await this.bench.join(organization.id, person.userId);
    const client = await TestClient.register(this.bench, organization);
    const { shown } = await visitor.authorize(client);
    if (shown.form('email')) await visitor.signIn(shown, person, { stay: true });
  }

  private async redeemed({ client }: Walker, code: string, verifier: string): Promise<Outcome> {
    const { status, body } = await client.redeem(code, verifier);
    if (status === 200) return 'signed in';
    throw new Error(`The code is worth nothing: ${JSON.stringify(body)}`);
  }

  /** A page without a form says what happened and has a link, which is taken. */
  private follow({ visitor }: Walker, shown: Shown): Promise<Shown> {
    const [link] = shown.links.filter((to) => to.startsWith('/oauth/'));
    if (link === undefined || shown.title === '')
      throw new Error(
        `A dead end: ${String(shown.status)} ${shown.title} ${shown.url.pathname} ${shown.html}`,
      );
    return visitor.open(link, { stay: true });
  }
}

function stepOf(shown: Shown): Step | undefined {
  return STEPS.find((step) => shown.form(step)) ?? (shown.refresh === undefined ? undefined : 'leave');
}

function secretOn({ html }: Shown): string {
  return /<code>([A-Z2-7 ]+)<\/code>/.exec(html)?.[1]?.replaceAll(' ', '') ?? '';
}
