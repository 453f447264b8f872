import { eventually, expectStatus, peerModule, type Answer } from '@customer-platform/testing';
import type { IdentityBench, TestOrganization } from '../identity-app.fixture.js';
import { Invitations, PASSWORD } from '../invitations/invitation.fixture.js';
import type { PasswordResetLink } from './password-reset-links.js';

export const RESETS = '/v1/identity/password-resets';
export const NEW_PASSWORD = 'cuatro cuervos cantan cada calle';

/** Somebody who has an account with a password. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly organization: TestOrganization;
}

/** The row of a user's reset. */
interface ResetRow {
  id: string;
  generation: number;
  open: boolean;
  locale: string | null;
}

/** Resets as those who ask for them and those who get the mail see them. */
export class Resets {
  private readonly guests: Invitations;

  constructor(private readonly bench: IdentityBench) {
    this.guests = new Invitations(bench);
  }

  /** An address that nobody has. */
  address(): string {
    return this.guests.address();
  }

  async person(organization: TestOrganization): Promise<Person> {
    const invitation = await this.guests.invite(organization);
    await this.guests.acceptAsNew(organization, invitation);
    const [row] = await this.bench.database.query<{ id: string }>('SELECT id FROM users WHERE email = $1', [
      invitation.email,
    ]);
    return { id: row?.id ?? '', email: invitation.email, organization };
  }

  ask(email: string, body: Record<string, unknown> = {}): Promise<Answer<object>> {
    return this.bench.app.with().post(RESETS, { email, ...body });
  }

  /** Whatever was asked for has been looked at. */
  async settled(): Promise<void> {
    await eventually(async () => {
      const rows = await this.bench.database.query('SELECT 1 FROM password_reset_requests');
      expect(rows).toEqual([]);
    });
  }

  async row({ id }: Person): Promise<ResetRow | undefined> {
    const [row] = await this.bench.database.query<ResetRow>(
      'SELECT id, generation, open, locale FROM password_resets WHERE user_id = $1',
      [id],
    );
    return row;
  }

  /** What identity tells messaging when it writes the newest mail. */
  async link(person: Person, module = 'messaging'): Promise<Answer<PasswordResetLink & { code: string }>> {
    const caller = await peerModule(module, 'identity', this.bench.app.internalUrl);
    const { id = '' } = (await this.row(person)) ?? {};
    return caller.get(`/internal/links/password_reset/${id}?organization_id=${person.organization.id}`);
  }

  /** Asks, and reads the token from the mail. */
  async token(person: Person): Promise<string> {
    expectStatus(await this.ask(person.email), 202);
    await this.settled();
    const answer = await this.link(person);
    expectStatus(answer, 200);
    return new URL(answer.body.link).searchParams.get('token') ?? '';
  }

  confirm(token: unknown, password: unknown = NEW_PASSWORD): Promise<Answer<object>> {
    return this.bench.app.with().post(`${RESETS}/confirm`, { token, password });
  }

  async hashOf({ id }: Person): Promise<string> {
    const [row] = await this.bench.database.query<{ password_hash: string }>(
      'SELECT password_hash FROM users WHERE id = $1',
      [id],
    );
    return row?.password_hash ?? '';
  }
}

export { PASSWORD as FORMER_PASSWORD };
