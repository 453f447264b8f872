import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Tenants } from '../../background/organizations/tenants.js';
import { RenderFailure } from '../../vocabulary/rendering/render-failure.js';
import type {
  ComparedText,
  MessageReview,
  PartSource,
  RenderScope,
} from '../../vocabulary/rendering/render-job.js';
import { RenderPool, type TenantOf, type WaitingBounds } from './render-pool.js';
import { DESK_PROFILE, LIQUID_PROFILE } from './render-profile.js';

/** What a rendering or a check is for. Whatever becomes a send shares nothing with what people wait for at a desk. */
export type RenderPurpose = 'send' | 'campaign' | 'preview' | 'save';

/**
 * Of one organization, of all organizations of a tenant, and of all. What is for a send is not refused: how much of that there is is bounded where sends
 * are taken, and it waits in its own turn.
 */
const BOUNDS: Record<RenderPurpose, WaitingBounds | undefined> = {
  send: undefined,
  campaign: undefined,
  preview: { ofOrganization: 4, ofTenant: 16, inAll: 64 },
  save: { ofOrganization: 16, ofTenant: 32, inAll: 64 },
};

/** What was let in to be rendered is let in to be looked through: each preview asks for both, one after the other. */
const REVIEW_BOUNDS: WaitingBounds = { ofOrganization: 8, ofTenant: 32, inAll: 128 };

/**
 * Renders liquid in processes of its own (messaging.md §4): a template that loops, eats memory or grows without end is
 * stopped by 500 ms, 64 MiB and 512 KiB and fails with `render_limit_exceeded`, while its neighbours are rendered.
 * Tenants take turns, and in a tenant its organizations. Deterministic: preview and dispatch call the same method and get the same bytes.
 */
@Injectable()
export class Renderer implements OnApplicationShutdown {
  private readonly sends: RenderPool;
  private readonly desk: RenderPool;

  constructor(tenants: Tenants) {
    const tenantOf: TenantOf = (organizationId) => tenants.of(organizationId);
    this.sends = new RenderPool(LIQUID_PROFILE, tenantOf);
    this.desk = new RenderPool(DESK_PROFILE, tenantOf);
  }

  /** All parts of one message. @throws RenderFailure, Problem `rate_limited` unless it is for a send */
  async render(
    organizationId: string,
    parts: readonly PartSource[],
    scope: RenderScope,
    strict: boolean,
    purpose: RenderPurpose = 'send',
  ): Promise<Record<string, string>> {
    const job = { kind: 'render', parts, scope, strict } as const;
    return this.ask(organizationId, job, purpose);
  }

  /** Parses without rendering. @throws RenderFailure `template_invalid` with the part at fault; as `render` */
  async check(
    organizationId: string,
    parts: readonly PartSource[],
    purpose: RenderPurpose = 'send',
  ): Promise<void> {
    await this.ask(organizationId, { kind: 'check', parts }, purpose);
  }

  /** The text part derived from an HTML template; liquid in it stays liquid. @throws RenderFailure */
  async deriveText(organizationId: string, html: string, purpose: RenderPurpose = 'send'): Promise<string> {
    const job = { kind: 'derive_text', html } as const;
    return (await this.ask(organizationId, job, purpose)).text ?? '';
  }

  /** What the sources read, and what the rendered HTML holds; for a preview. @throws as `render` */
  async review(
    organizationId: string,
    parts: readonly PartSource[],
    html: string | null,
  ): Promise<MessageReview> {
    const job = { kind: 'review', parts, html } as const;
    const { review = '' } = await this.desk.ask(organizationId, job, { bounds: REVIEW_BOUNDS });
    return JSON.parse(review) as MessageReview;
  }

  /** Tells whether the sources name the contact, as far as that can be told before they are rendered. */
  async readsContact(organizationId: string, parts: readonly PartSource[]): Promise<boolean> {
    if (!parts.some(({ source }) => source.includes('contact'))) return false;
    try {
      const job = { kind: 'review', parts, html: null } as const;
      const { review = '' } = await this.ask(organizationId, job, 'send');
      return (JSON.parse(review) as MessageReview).uses.some(({ path }) => path[0] === 'contact');
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error;
      return false;
    }
  }

  /**
   * The unified lines of each pair of texts, by name; without those that are too long, or too different, to be told.
   * @throws Problem `rate_limited`
   */
  async compare(organizationId: string, pairs: readonly ComparedText[]): Promise<Record<string, string>> {
    try {
      return await this.ask(organizationId, { kind: 'compare', pairs }, 'preview');
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error;
      return {};
    }
  }

  onApplicationShutdown(): void {
    this.sends.close();
    this.desk.close();
  }

  /** Of an organization's sends, those of its campaigns take turns with the others, and never come before them all. */
  private ask(
    organizationId: string,
    job: Parameters<RenderPool['ask']>[1],
    purpose: RenderPurpose,
  ): Promise<Record<string, string>> {
    const pool = purpose === 'send' || purpose === 'campaign' ? this.sends : this.desk;
    const apart = purpose === 'campaign' ? '/campaign' : '';
    return pool.ask(organizationId, job, { bounds: BOUNDS[purpose], apart });
  }
}
