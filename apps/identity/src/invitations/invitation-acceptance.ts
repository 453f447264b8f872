import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import { CredentialResolver } from '@customer-platform/authorization';
import { afterLocks, Clock, Database, type WorkerTransaction } from '@customer-platform/database';
import { validateBody, type RequestOrigin } from '@customer-platform/http';
import { Problem, type FieldError } from '@customer-platform/problem-json';
import { MembershipsService } from '../memberships/memberships.service.js';
import { PasswordHashing } from '../passwords/password-hashing.js';
import { PasswordRules } from '../passwords/password-rules.js';
import { RoleAssignmentsService } from '../role-assignments/role-assignments.service.js';
import { AccessTokenIssuing, type TokenSession } from '../sessions/access-token.issuing.js';
import { SessionBeginnings } from '../sessions/session-beginnings.js';
import { SsoSignIn, type SsoWayIn } from '../sso-connections/sso-sign-in.js';
import { UserArrivals } from '../users/user-arrivals.js';
import { AcceptInvitationDto, type AcceptedInvitationDto } from './invitation.dto.js';
import { InvitationJournal } from './invitation-journal.js';
import { asOf, INVITATION_COLUMNS, toInvitationDto, type InvitationRow } from './invitation.row.js';
import { InvitationTokens, type TokenOfInvitation } from './invitation-tokens.js';

/** The request as far as somebody who is nobody yet has one. */
interface AcceptanceRequest extends RequestOrigin {
  readonly correlationId: string;
  /** The `Authorization` header: who has an account joins as who they are. */
  readonly authorization: string | undefined;
}

/** Codes of a credential that is not the user's own; whatever is wrong with it, signing in is the remedy. */
const NOT_SIGNED_IN = new Set(['missing_credentials', 'invalid_token', 'token_expired', 'user_required']);

/** Codes of an invitation that cannot be accepted. */
const DEAD = new Set(['invalid_token', 'token_expired', 'organization_suspended']);

/** What a person gives who has no account. */
interface NewPerson {
  readonly name: string;
  /** Null for who signs in at a provider alone. */
  readonly passwordHash: string | null;
}

/** An invitation that can be accepted, and by whom. */
interface Acceptable {
  readonly invitation: InvitationRow;
  readonly organization: OrganizationRow;
  /** Who has the address and an account. */
  readonly userId: string | undefined;
}

interface OrganizationRow {
  name: string;
  slug: string;
  status: string;
}

const ORGANIZATION = `
SELECT name, slug, status FROM organizations WHERE organization_id = $1 AND deleted_at IS NULL FOR SHARE`;
const SELECT = `SELECT ${INVITATION_COLUMNS} FROM invitations WHERE organization_id = $1 AND id = $2`;
const ACCEPT = `
UPDATE invitations
   SET status = 'accepted', accepted_at = $3, updated_at = greatest($3::timestamptz, updated_at + interval '1 ms')
 WHERE organization_id = $1 AND id = $2 RETURNING ${INVITATION_COLUMNS}`;

/**
 * Acceptance of invitations (identity.md §3): token → who it is for → what they give → join. The token is looked at
 * twice: before the password is hashed, which takes its time and holds nothing, and under the invitation's lock, where
 * of many who come with it the first is let in.
 */
@Injectable()
export class InvitationAcceptance {
  constructor(
    private readonly database: Database,
    private readonly tokens: InvitationTokens,
    private readonly journal: InvitationJournal,
    private readonly rules: PasswordRules,
    private readonly passwords: PasswordHashing,
    private readonly arrivals: UserArrivals,
    private readonly memberships: MembershipsService,
    private readonly assignments: RoleAssignmentsService,
    private readonly beginnings: SessionBeginnings,
    private readonly accessTokens: AccessTokenIssuing,
    private readonly credentials: CredentialResolver,
    private readonly sso: SsoSignIn,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws Problem `missing_credentials`, `invalid_token`, `token_expired`, `organization_suspended`,
   *   `sign_in_required`, `mfa_required`, `validation_failed`, `account_exists`, `rate_limited`, `limit_reached`
   */
  async accept(request: AcceptanceRequest, body: unknown): Promise<AcceptedInvitationDto> {
    const token = this.tokens.readFrom(body);
    const look = (): Promise<Acceptable> =>
      this.database.acrossOrganizations((tx) => this.acceptable(tx, token));
    const seen = await look();
    if (seen.userId !== undefined && !(await this.isSignedIn(seen.userId, request))) {
      // An account that came of this very invitation, while it was looked at, has used it up: another 401.
      await look();
      throw signInRequired();
    }
    const given = await validateBody(AcceptInvitationDto, body);
    if (seen.userId !== undefined && given.password !== undefined) throw accountExists();
    const person = await this.personOf(token, seen, given, request.ip);
    const { invitation, session } = await this.database.acrossOrganizations((tx) =>
      this.join(tx, request, token, { person, userId: seen.userId }),
    );
    const answer = toInvitationDto(invitation);
    return session ? { ...answer, access_token: await this.accessTokens.issue(session) } : answer;
  }

  /** The organization that a user who signs in is invited to, by the proof of a token; undefined where that is nobody's, or another's. */
  async offered(userId: string, proof: string): Promise<{ organization: string } | undefined> {
    const token = this.tokens.readProof(proof);
    if (!token) return undefined;
    return this.database.acrossOrganizations(async (tx) => {
      const acceptable = await this.acceptable(tx, token).catch(unlessDead);
      return acceptable?.userId === userId ? { organization: acceptable.organization.name } : undefined;
    });
  }

  /**
   * Joins as who has just signed in: who is a member of nothing has no access token to accept with.
   * @returns the organization; undefined where there is nothing to accept any more
   */
  async acceptSignedIn(context: AuditContext, proof: string): Promise<string | undefined> {
    const token = this.tokens.readProof(proof);
    if (!token) return undefined;
    const { id: userId } = context.actor;
    return this.database.acrossOrganizations(async (tx) => {
      const acceptable = await this.acceptable(tx, token, true).catch(unlessDead);
      if (acceptable?.userId !== userId) return undefined;
      const { organizationId } = token;
      await this.enter(tx, { ...context, organizationId }, acceptable.invitation);
      return organizationId;
    });
  }

  /**
   * Whoever has the mail of an invitation is not thereby the user of its address: only that user's own access token is.
   * Nobody who acts in the user's name joins for them.
   */
  private async isSignedIn(
    userId: string,
    { authorization, ip: address }: AcceptanceRequest,
  ): Promise<boolean> {
    try {
      const caller = await this.credentials.authenticate(authorization, { accepts: 'user', address });
      const { principal, actor, restriction } = caller;
      if (principal.type !== 'user' || principal.id !== userId || actor.impersonatorId) return false;
      if (restriction === 'mfa_required') throw new Problem('mfa_required');
      return true;
    } catch (error) {
      if (error instanceof Problem && NOT_SIGNED_IN.has(error.code)) return false;
      throw error;
    }
  }

  private async acceptable(
    tx: WorkerTransaction,
    { organizationId, id, generation }: TokenOfInvitation,
    lock = false,
  ): Promise<Acceptable> {
    await tx.useOrganization(organizationId);
    const [organization] = await tx.query<OrganizationRow>(ORGANIZATION, [organizationId]);
    // Shared while it is only looked at: who accepts in between would look like somebody known before.
    const select = SELECT + (lock ? ' FOR UPDATE' : ' FOR SHARE');
    const locked = tx.query<InvitationRow>(select, [organizationId, id]);
    const [[row], now] = await afterLocks(this.clock, locked);
    if (!organization || row?.generation !== generation) throw new Problem('invalid_token');
    const invitation = asOf(row, now);
    if (invitation.status === 'expired') throw new Problem('token_expired');
    if (invitation.status !== 'pending') throw new Problem('invalid_token');
    if (organization.status === 'suspended') throw new Problem('organization_suspended');
    const user = await this.arrivals.known(tx, invitation.email, lock);
    return { invitation, organization, userId: user?.hasAccount ? user.id : undefined };
  }

  /** Undefined for who has an account. */
  private async personOf(
    { organizationId }: TokenOfInvitation,
    { invitation, organization, userId }: Acceptable,
    { name, password }: AcceptInvitationDto,
    ip: string | undefined,
  ): Promise<NewPerson | undefined> {
    if (userId !== undefined) return undefined;
    const way = await this.sso.forEmail(invitation.email);
    if (way?.enforced) return bySso(way, organizationId, { name, password });
    if (name === undefined || password === undefined) throw missing({ name, password });
    await this.rules.demandUncommon(password, [name, invitation.email, organization.name, organization.slug]);
    return { name, passwordHash: await this.passwords.hash(password, ip) };
  }

  private async join(
    tx: WorkerTransaction,
    request: AcceptanceRequest,
    token: TokenOfInvitation,
    { person, userId: signedIn }: { person: NewPerson | undefined; userId: string | undefined },
  ): Promise<{ invitation: InvitationRow; session: TokenSession | undefined }> {
    const { invitation, userId: known } = await this.acceptable(tx, token, true);
    const { organizationId } = tx;
    const contextOf = (id: string): AuditContext => ({
      ...request,
      organizationId,
      actor: { type: 'user', id },
    });
    const userId = person
      ? await this.arrivals.arrive(
          tx,
          { ...person, email: invitation.email, locale: invitation.locale },
          contextOf,
        )
      : known;
    // Since the first look the person has come by another invitation, or is gone.
    if (userId === undefined) throw person ? signInRequired() : missing({});
    if (!person && userId !== signedIn) throw signInRequired();
    const context = contextOf(userId);
    if (person) await this.memberships.endElsewhere(tx, context, userId);
    const begin = async (): Promise<TokenSession | undefined> =>
      person?.passwordHash
        ? this.beginnings.begin(tx, { ...request, userId, organizationId, amr: ['pwd'] })
        : undefined;
    return this.enter(tx, context, invitation, begin);
  }

  private async enter(
    tx: WorkerTransaction,
    context: AuditContext,
    { id, role_ids: roleIds }: InvitationRow,
    begin: () => Promise<TokenSession | undefined> = () => Promise.resolve(undefined),
  ): Promise<{ invitation: InvitationRow; session: TokenSession | undefined }> {
    const [accepted] = await tx.query<InvitationRow>(ACCEPT, [tx.organizationId, id, this.clock.now()]);
    if (!accepted) throw new Problem('invalid_token');
    await this.journal.record(tx, context, 'accepted', accepted);
    const session = await begin();
    // Last, for it changes rights: from here on others of the organization who gain or lose any wait.
    const membershipId = await this.memberships.joined(tx, context, context.actor.id);
    await this.assignments.assignMissing(tx, context, { membershipId, roleIds });
    return { invitation: accepted, session };
  }
}

/** Answers nothing of one that was used, withdrawn or is over. @throws every other error */
function unlessDead(error: unknown): undefined {
  const isDead = error instanceof Problem && DEAD.has(error.code);
  if (!isDead) throw error;
}

/** Who signs in at a provider alone is given no password and no session: the provider is who lets them in. */
function bySso(
  way: SsoWayIn,
  organizationId: string,
  { name, password }: Pick<AcceptInvitationDto, 'name' | 'password'>,
): NewPerson {
  // At home here they would be nobody whom the other organization's provider could let in.
  if (way.organizationId !== organizationId)
    throw new Problem('sign_in_required', {
      detail:
        'Addresses of this domain sign in at a provider of their own; accept with an access token of that user.',
    });
  if (password !== undefined) {
    const detail = 'Addresses of this domain sign in at a provider of their own, without a password.';
    throw Problem.validation([{ pointer: '/password', code: 'not_allowed', detail }]);
  }
  if (name === undefined) throw missing({ name, password: '' });
  return { name, passwordHash: null };
}

function signInRequired(): Problem {
  return new Problem('sign_in_required', {
    detail:
      'The invited address has an account; sign in for it, or accept with an access token of that user.',
  });
}

function accountExists(): Problem {
  const detail = 'The invited person has an account already; accept without a password.';
  return new Problem('account_exists', {
    detail,
    errors: [{ pointer: '/password', code: 'account_exists', detail }],
  });
}

function missing(given: { name?: string | undefined; password?: string | undefined }): Problem {
  const errors = (['name', 'password'] as const)
    .filter((field) => given[field] === undefined)
    .map((field): FieldError => {
      const detail = `\`${field}\` is required of who has no account yet.`;
      return { pointer: `/${field}`, code: 'required', detail };
    });
  return Problem.validation(errors);
}
