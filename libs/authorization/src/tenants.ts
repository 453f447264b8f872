import { log, type OrganizationSnapshot } from '@customer-platform/http';
import type { AuthorizationSource } from './authorization-source.js';

/**
 * Organizations of which it is known; of those that were asked about longest ago it is forgotten. More than one tenant can
 * have (identity.md §2), or those of one would be tenants of their own again and again.
 */
const MOST_KNOWN = 50_000;
const AT_ONCE = 2;
const ANSWER_WITHIN_MS = 2_000;
/** Whom the registry does not know, or could not be asked about, it is asked about again. */
const AGAIN_AFTER_MS = 60_000;

interface Known {
  readonly tenant: string;
  /** Milliseconds since the epoch; what the registry has said holds for ever. */
  readonly until: number;
}

/**
 * The tenant of an organization: the one directly below the root that it belongs to. A request's credential tells it;
 * of others the registry is asked behind the caller, once for each organization, which never moves, and until it has
 * answered an organization is a tenant of its own.
 * For turns and bounds only, where that makes somebody wait and permits nothing.
 */
export class Tenants {
  private readonly known = new Map<string, Known>();
  private readonly waiting = new Set<string>();
  private asking = 0;

  constructor(
    private readonly registry: Pick<AuthorizationSource, 'resolveTenant'>,
    private readonly clock: { now(): Date },
  ) {}

  of(organizationId: string): string {
    const known = this.known.get(organizationId);
    if (!known || known.until <= this.clock.now().getTime()) this.ask(organizationId);
    return known?.tenant ?? organizationId;
  }

  /**
   * Answers whose turn it is: as `of`, but undefined for as long as the registry has not said. All of those have one turn
   * together, in which they follow each other, so that nobody has more turns for keeping the registry from answering.
   */
  whoseTurn(organizationId: string): string | undefined {
    const tenant = this.of(organizationId);
    return this.known.get(organizationId)?.until === Infinity ? tenant : undefined;
  }

  /** Takes what was told with a credential: whoever asks for something has its tenant's turn from the first time on. */
  learn({ id, tenant_id: tenant }: Pick<OrganizationSnapshot, 'id' | 'tenant_id'>): void {
    if (tenant === undefined || this.known.get(id)?.until === Infinity) return;
    this.waiting.delete(id);
    this.note(id, { tenant, until: Infinity });
  }

  private ask(organizationId: string): void {
    this.waiting.add(organizationId);
    while (this.asking < AT_ONCE && this.waiting.size > 0) void this.askNext();
  }

  private async askNext(): Promise<void> {
    const [id] = this.waiting;
    if (id === undefined) return;
    this.note(id, { tenant: id, until: this.clock.now().getTime() + AGAIN_AFTER_MS });
    this.waiting.delete(id);
    this.asking += 1;
    try {
      const { organization } = await this.registry.resolveTenant(
        { organization_id: id },
        ANSWER_WITHIN_MS,
        'strangers', // never before those that a request waits for
      );
      if (organization.tenant_id !== undefined)
        this.note(id, { tenant: organization.tenant_id, until: Infinity });
    } catch (error) {
      // Unknown, deleted, or nobody was there to ask: it stays a tenant of its own for a while.
      log.debug({ err: error, organization_id: id }, 'The tenant of an organization is not known');
    } finally {
      this.asking -= 1;
      const [next] = this.waiting;
      if (next !== undefined) this.ask(next);
    }
  }

  private note(id: string, known: Known): void {
    this.known.delete(id);
    this.known.set(id, known);
    const [oldest] = this.known.keys();
    if (this.known.size > MOST_KNOWN && oldest !== undefined) this.known.delete(oldest);
  }
}
