/** The owner of a turn: an organization, of a tenant. */
export interface TurnOwner {
  readonly tenant: string;
  readonly organizationId: string;
}

/** So many names a statement can take. */
const MOST_REMEMBERED = 1_000;

/**
 * Remembers who had a turn of a job that does one piece after the other, so that tenants take turns, and within a tenant its
 * organizations: whoever founds further ones has one turn like the others. Each process has its own.
 */
export class LatestTurns {
  private readonly ofTenants = new Map<string, number>();
  private readonly ofOrganizations = new Map<string, number>();
  private made = 0;

  /**
   * @param mostRemembered beyond it those whose turn is longest ago count as if they had had none: where more than so many wait,
   *   those given last wait for ever. Default 1,000
   */
  constructor(private readonly mostRemembered = MOST_REMEMBERED) {}

  /** Tenants that had a turn, the longest ago first: whoever is not among them comes before. */
  get tenants(): string[] {
    return [...this.ofTenants.keys()];
  }

  /** The same of organizations, within their tenants. */
  get organizations(): string[] {
    return [...this.ofOrganizations.keys()];
  }

  /** Notes a turn, whatever came of it. */
  had({ tenant, organizationId }: TurnOwner): void {
    this.made += 1;
    this.note(this.ofTenants, tenant);
    this.note(this.ofOrganizations, organizationId);
  }

  /** Those that wait, whose turn is next first; among equals as they are given. */
  inOrder<T extends TurnOwner>(waiting: readonly T[]): T[] {
    const ranked = waiting.map((one) => ({
      one,
      tenant: this.ofTenants.get(one.tenant) ?? 0,
      organization: this.ofOrganizations.get(one.organizationId) ?? 0,
    }));
    ranked.sort((a, b) => a.tenant - b.tenant || a.organization - b.organization);
    return ranked.map(({ one }) => one);
  }

  /** Forgets all: nobody waits. */
  forget(): void {
    this.ofTenants.clear();
    this.ofOrganizations.clear();
  }

  private note(turns: Map<string, number>, name: string): void {
    turns.delete(name);
    turns.set(name, this.made);
    if (turns.size <= this.mostRemembered) return;
    const [oldest] = turns.keys();
    if (oldest !== undefined) turns.delete(oldest);
  }
}
