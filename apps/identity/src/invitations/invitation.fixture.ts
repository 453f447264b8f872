import { expectStatus, peerModule, type Answer } from '@customer-platform/testing';
import type { IdentityBench, TestOrganization } from '../identity-app.fixture.js';
import type { AcceptedInvitationDto, InvitationDto } from './invitation.dto.js';
import type { InvitationLink } from './invitation-links.js';

export const INVITATIONS = '/v1/identity/invitations';
export const PASSWORD = 'tres tristes tigres tragaban trigo';

/** Invitations as those who send them and those who get them see them. */
export class Invitations {
  private number = 0;

  constructor(private readonly bench: IdentityBench) {}

  /** An address that nobody was invited by before. */
  address(): string {
    this.number += 1;
    return `guest-${String(this.number)}-${String(process.pid).padStart(6, '0')}@example.com`;
  }

  async invite(organization: TestOrganization, body: Record<string, unknown> = {}): Promise<InvitationDto> {
    const answer = await organization.admin.post<InvitationDto>(INVITATIONS, {
      email: this.address(),
      ...body,
    });
    expectStatus(answer, 201);
    return answer.body;
  }

  /** What identity tells a module that asks what the mail of an invitation says. */
  async ask(
    module: string,
    organizationId: string,
    id: string,
  ): Promise<Answer<InvitationLink & { code: string }>> {
    const caller = await peerModule(module, 'identity', this.bench.app.internalUrl);
    return caller.get(`/internal/links/invitation/${id}?organization_id=${organizationId}`);
  }

  /** The token that is in the newest mail. */
  async token(organization: TestOrganization, { id }: InvitationDto): Promise<string> {
    const answer = await this.ask('messaging', organization.id, id);
    expectStatus(answer, 200);
    return new URLSearchParams(new URL(answer.body.link).hash.slice(1)).get('token') ?? '';
  }

  /** As nobody, or with a credential: an access token of a user's own. */
  accept(body: object, credential?: string): Promise<Answer<AcceptedInvitationDto>> {
    return this.bench.app.with(credential).post(`${INVITATIONS}/accept`, body);
  }

  /** As somebody new does. */
  async acceptAsNew(
    organization: TestOrganization,
    invitation: InvitationDto,
  ): Promise<AcceptedInvitationDto> {
    const token = await this.token(organization, invitation);
    const answer = await this.accept({ token, name: 'Gabriela Mistral', password: PASSWORD });
    expectStatus(answer, 200);
    return answer.body;
  }

  /** As if its time had passed. */
  async expire({ id }: InvitationDto): Promise<void> {
    await this.bench.database.query(
      `UPDATE invitations SET expires_at = now() - interval '1 s' WHERE id = $1`,
      [id],
    );
  }
}
