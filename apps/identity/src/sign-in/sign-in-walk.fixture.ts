import { SigningKeys } from '@customer-platform/database';
import { DatabaseFault, expectStatus } from '@customer-platform/testing';
import { createHash } from 'node:crypto';
import type { IdentityBench, TestOrganization } from '../identity-app.fixture.js';
import { Invitations } from '../invitations/invitation.fixture.js';
import { aChallenge, TestClient } from '../oauth/browser.fixture.js';
import { ID_TOKEN_ALGORITHM, ID_TOKENS } from '../oauth/id-tokens.js';
import { codeOf, PASSWORD, People, type Person, type Shown } from './page-visitor.fixture.js';
import type { Act, WalkBrowser, WalkGround } from './walk-browser.fixture.js';
import {
  AWAY,
  STEPS,
  SUSPENDED,
  type Disturbance,
  type Outcome,
  type Pair,
  type Scenario,
  type Step,
} from './walk-pairs.fixture.js';

const MOST_ACTIONS = 18;
/** Who is asked again has a new code by then; no walk waits for it. */
const FORGET_STEP = 'UPDATE mfa_factors SET last_step = NULL WHERE user_id = $1 AND confirmed_at IS NOT NULL';

const SUSPEND = `UPDATE users SET status = 'suspended' WHERE id = $1`;
const AGE_KEYS = `UPDATE signing_keys SET usable_from = usable_from - interval '2 days' WHERE purpose = $1`;

interface Walker {
  readonly scenario: Scenario;
  readonly organization: TestOrganization;
  readonly client: TestClient;
  readonly person: Person;
  readonly browser: WalkBrowser;
  /** Of the factor that they have, or have set up on the way. */
  secret: string | undefined;
  readonly recoveryCodes: string[];
  readonly invitation: string | undefined;
}

/** Walks through the sign-in, with one disturbance at one step. */
export class SignInWalk {
  private readonly bench: IdentityBench;
  private readonly people: People;
  private readonly guests: Invitations;
  private rootClient: TestClient | undefined;
  private walkers = 0;

  constructor(private readonly ground: WalkGround) {
    this.bench = ground.sso.identity;
    this.people = new People(this.bench);
    this.guests = new Invitations(this.bench);
  }

  end(): Promise<void> {
    return this.ground.end();
  }

  /** @throws where it ends on a page that leads nowhere, or says nothing */
  async walk(pair: Pair): Promise<Outcome> {
    const walker = await this.prepare(pair[0]);
    try {
      return await this.walked(walker, pair);
    } finally {
      await walker.browser.close();
    }
  }

  private async walked(walker: Walker, [, at, disturbance]: Pair): Promise<Outcome> {
    const { client, browser, invitation } = walker;
    let disturbed = false;
    const { verifier, address } = this.request(client, invitation === undefined ? {} : { invitation });
    let shown = await browser.open(address);
    for (let action = 0; action < MOST_ACTIONS; action += 1) {
      const { searchParams } = shown.url;
      const code = searchParams.get('code');
      if (shown.status === 0 && code !== null) return this.redeemed(walker, code, verifier);
      if (shown.status === 0) return 'the application was told';
      const step = this.stepOf(shown);
      if (step === undefined) {
        if (disturbed && disturbance === SUSPENDED && shown.status === 403) return refused(shown);
        shown = await this.follow(walker, shown);
        continue;
      }
      if (step === 'password' && shown.status === 422 && disturbed) return 'refused, with why and a way on';
      await this.bench.database.query(FORGET_STEP, [walker.person.userId]);
      const act = this.take(walker, step, shown);
      const isHere: boolean = step === at && !disturbed;
      disturbed ||= isHere;
      shown = await (isHere ? this.disturb(walker, disturbance, act) : browser.act(act));
    }
    throw new Error(`It goes on and on: ${shown.title} ${shown.url.pathname}`);
  }

  /** An authorization request that is right, and what redeems its code. */
  private request(client: TestClient, further: Record<string, string>) {
    const { verifier, challenge } = aChallenge();
    const parameters = client.request(challenge, { redirect_uri: this.ground.callback, ...further });
    const query = new URLSearchParams(parameters).toString();
    return { verifier, address: `${this.ground.origin}/oauth/authorize?${query}` };
  }

  private async prepare(scenario: Scenario): Promise<Walker> {
    const organization = await this.bench.organization();
    const home = scenario === 'join' ? await this.bench.organization() : organization;
    const person = await this.personFor(scenario, home);
    if (scenario !== 'join') await this.bench.member(organization, person.userId, 'analyst');
    const hasFactor = scenario === 'recovery' || scenario.endsWith('factor');
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
      browser: await this.ground.browser(this.network()),
      secret: factor?.secret,
      recoveryCodes: factor?.recoveryCodes ?? [],
      invitation: scenario === 'join' ? await this.invite(organization, person) : undefined,
    };
  }

  /** Each comes from elsewhere: what is counted by network is not what is walked. */
  private network(): string {
    this.walkers += 1;
    return `10.0.${String(this.walkers >> 8)}.${String(this.walkers & 255)}`;
  }

  /** Somebody at home in the organization, with an address of its provider's domain where they sign in there. */
  private async personFor(scenario: Scenario, home: TestOrganization): Promise<Person> {
    const person = await this.people.person(home, { isMember: false });
    if (!scenario.startsWith('sso')) return person;
    const { domain } = await this.ground.sso.connection(this.ground.provider.issuer, {}, home);
    const email = `${person.userId}@${domain}`;
    await this.bench.database.query('UPDATE users SET email = $2 WHERE id = $1', [person.userId, email]);
    this.ground.provider.claims = { sub: person.userId, email, email_verified: true };
    return { ...person, email };
  }

  private async clientFor(scenario: Scenario, organization: TestOrganization): Promise<TestClient> {
    if (scenario === 'several' || scenario === 'join') {
      this.rootClient ??= await TestClient.ofRoot(this.bench, this.ground.client);
      return this.rootClient;
    }
    return TestClient.register(this.bench, organization, {
      organizations: scenario === 'consent' ? 'tree' : 'own',
      ...this.ground.client,
    });
  }

  private async invite(organization: TestOrganization, { email }: Person): Promise<string> {
    const token = await this.guests.token(organization, await this.guests.invite(organization, { email }));
    return `${token.slice(4, 52)}.${createHash('sha256').update(token).digest('base64url')}`;
  }

  /** Does on a page what the person does. */
  private take(walker: Walker, step: Step, page: Shown): Act {
    const { person, scenario } = walker;
    if (step === 'provider' || step === 'arrive' || step === 'leave') return 'wait';
    if (step === 'factor' && scenario === 'recovery') return { form: 'use-recovery', fields: {} };
    const fields: Record<string, string> = {};
    if (step === 'email') fields['email'] = person.email;
    if (step === 'password') Object.assign(fields, { email: person.email, password: PASSWORD });
    if (step === 'recovery') fields['code'] = walker.recoveryCodes.shift() ?? '';
    if (step === 'enrol') walker.secret = secretOn(page);
    if (step === 'enrol' || step === 'factor') fields['code'] = codeOf(walker.secret ?? '');
    return { form: step, fields };
  }

  private stepOf(shown: Shown): Step | undefined {
    const form = STEPS.find((step) => shown.form(step));
    if (form !== undefined || shown.refresh === undefined) return form;
    if (shown.refresh.startsWith(this.ground.provider.issuer)) return 'provider';
    return shown.refresh.startsWith('/oauth/interactions/') ? 'arrive' : 'leave';
  }

  private async disturb(walker: Walker, disturbance: Disturbance, act: Act): Promise<Shown> {
    const { browser } = walker;
    if (disturbance === 'again at once') return browser.atOnce(act);
    if (disturbance === 'again after a lost answer') return browser.afterLostAnswer(act);
    if (disturbance === 'back button') return browser.back(act);
    if (disturbance.startsWith(AWAY))
      return this.whileAway(disturbance.slice(AWAY.length), () => browser.act(act));
    await this.change(walker, disturbance);
    return browser.act(act);
  }

  /** The database fails at one statement of what is done, the first that writes that table. */
  private async whileAway(table: string, act: () => Promise<Shown>): Promise<Shown> {
    const faults = await Promise.all(
      (['INSERT', 'UPDATE', 'DELETE'] as const).map((on) =>
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
    if (disturbance === SUSPENDED) await this.bench.database.query(SUSPEND, [person.userId]);
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
  private async anotherTab({ browser, person }: Walker): Promise<void> {
    const organization = await this.bench.organization();
    await this.bench.join(organization.id, person.userId);
    const client = await TestClient.register(this.bench, organization, this.ground.client);
    const tab = await browser.tab();
    const shown = await tab.open(this.request(client, {}).address);
    if (!shown.form('email')) return;
    const asked = await tab.act({ form: 'email', fields: { email: person.email } });
    if (asked.form('use-password')) await tab.act({ form: 'use-password', fields: {} });
    await tab.act({ form: 'password', fields: { email: person.email, password: PASSWORD } });
  }

  private async redeemed({ client }: Walker, code: string, verifier: string): Promise<Outcome> {
    const { status, body } = await client.redeem(code, verifier, { redirect_uri: this.ground.callback });
    if (status === 200) return 'signed in';
    throw new Error(`The code is worth nothing: ${JSON.stringify(body)}`);
  }

  /** A page without a form says what happened and has a link, which is taken. */
  private follow({ browser }: Walker, shown: Shown): Promise<Shown> {
    const [link] = shown.links.filter((to) => to.startsWith('/oauth/'));
    if (link === undefined || shown.title === '')
      throw new Error(
        `A dead end: ${String(shown.status)} ${shown.title} ${shown.url.pathname} ${shown.html}`,
      );
    return browser.act({ link });
  }
}

function refused(shown: Shown): Outcome {
  if (shown.title === '' || shown.links.length === 0) throw new Error(`A dead end: ${shown.html}`);
  return 'refused, with why and a way on';
}

function secretOn({ html }: Shown): string {
  return /<code>([A-Z2-7 ]+)<\/code>/.exec(html)?.[1]?.replaceAll(' ', '') ?? '';
}
