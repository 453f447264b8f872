/** The owner of a turn: an organization, of a tenant. */
export interface TurnOwner {
  readonly tenant: string;
  readonly organizationId: string;
}

/** Beyond it those whose turn is longest ago count as if they had had none: they come first either way. */
const MOST_REMEMBERED = 1_000;

/**
 * Remembers who had a turn of a job that does one piece after the other, so that tenants take turns, and within a tenant its
 * organizations: whoever founds further ones has one turn like the others. Each process has its own.
 */
export class LatestTurns {
  private readonly ofTenants = new Map<string, number>();
  private readonly ofOrganizations = new Map<string, number>();
  private made = 0;

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
    note(this.ofTenants, tenant, this.made);
    note(this.ofOrganizations, organizationId, this.made);
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
}

function note(turns: Map<string, number>, name: string, turn: number): void {
  turns.delete(name);
  turns.set(name, turn);
  const [oldest] = turns.keys();
  if (turns.size > MOST_REMEMBERED && oldest !== undefined) turns.delete(oldest);
}
