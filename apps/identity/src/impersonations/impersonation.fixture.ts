import { Caller, eventually, expectStatus } from '@customer-platform/testing';
import type { IdentityBench, SignedIn, TestOrganization } from '../identity-app.fixture.js';
import type { ImpersonationDto } from './impersonation.dto.js';

export const IMPERSONATIONS = '/v1/identity/impersonations';
export const REASON = 'Ticket 4711: a campaign cannot be found.';
/** How whoever acts has authenticated. */
const MFA = ['pwd', 'otp', 'mfa'];
const ANYTHING = '/v1/identity/permissions?limit=1';
const always = (): boolean => true;

/** An impersonation that has begun. */
interface Started {
  readonly id: string;
  /** The user, but not by themselves. */
  readonly as: Caller;
  readonly token: string;
  readonly body: ImpersonationDto;
}

/** An organization with two owners, of whom one has a session in which to act as the other. */
export class Acting {
  private constructor(
    private readonly bench: IdentityBench,
    readonly organization: TestOrganization,
    public actor: SignedIn,
    readonly user: SignedIn,
  ) {}

  static async of(bench: IdentityBench): Promise<Acting> {
    const organization = await bench.organization();
    const [actor, user] = [await bench.signedIn(organization), await bench.signedIn(organization)];
    const acting = new Acting(bench, organization, actor, user);
    await acting.from({});
    return acting;
  }

  /** Has the actor act in a further session, of a client’s or an SSO connection’s perhaps. */
  async from(how: { clientId?: string; connectionId?: string }): Promise<void> {
    const { organization, actor, bench } = this;
    this.actor = { ...actor, ...(await bench.signIn(organization.id, actor.userId, { amr: MFA, ...how })) };
  }

  start(body: object = {}, by: Caller = this.actor.caller, headers: Record<string, string> = {}) {
    const whole = { user_id: this.user.userId, reason: REASON, ...body };
    return by.post<ImpersonationDto>(IMPERSONATIONS, whole, headers);
  }

  async started(body: object = {}): Promise<Started> {
    const answer = await this.start(body);
    expectStatus(answer, 201);
    const token = answer.body.access_token ?? '';
    const as = new Caller(this.bench.app.url, token, always);
    await this.becomes(as, 200);
    return { id: answer.body.id, as, token, body: answer.body };
  }

  becomes(caller: Caller, status: number, code?: string): Promise<void> {
    return eventually(async () => {
      const answer = await caller.get<{ code?: string }>(ANYTHING);
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    });
  }

  /** A statement in the organization, as the service would make it. */
  sql(statement: string, values: unknown[]): Promise<unknown[]> {
    return this.bench.within(this.organization.id, (tx) => tx.query(statement, values));
  }
}
