import { yieldLoop } from '../reading/event-loop.js';
import { FailingTurns } from './failing-turns.js';
import { LatestTurns } from './latest-turns.js';

/** So long a reading of who waits serves for: whoever comes meanwhile is in the next. */
const READ_EVERY_MS = 1_000;
/** Readings that take long are rarer: they take no more than a tenth of a job's time. */
const TIMES = 10;
/** Organizations of which a job looks for its next item in one statement. */
const AT_ONCE = 50;

/** More organizations than one tenant can have: whoever had a turn is not taken for one that had none. */
const MOST_REMEMBERED = 50_000;

/** Those of whom it is not known to which tenant they belong have one turn together. */
const UNKNOWN = '';

/** Whoever knows the tenant of an organization: the one below the root that it belongs to. */
export interface KnownTenants {
  /** The tenant; undefined while it is not known. */
  whoseTurn(organizationId: string): string | undefined;
}

/**
 * The organizations that wait for a job, in the order of their turns: tenants follow each other, in a tenant its organizations,
 * whoever had a turn last comes last. So whoever founds further organizations has one turn like the others, and starves none of
 * its own. Whose piece failed comes after the others for a while, as `FailingTurns` says: so does its tenant, whose other
 * organizations come before it. Those whose tenant is not known yet count as one. Where pieces are one organization's, who waits is read once for
 * many turns. Each process has its own.
 */
export class TurnLine {
  private readonly latest = new LatestTurns(MOST_REMEMBERED);
  private readonly failingTenants: FailingTurns;
  private readonly failingOrganizations: FailingTurns;
  private readonly tenantOf = new Map<string, string>();
  private lines = new Map<string, Set<string>>();
  private readAgainAt = -Infinity;

  /** @param now milliseconds of a monotonic clock; default `performance.now` */
  constructor(
    private readonly tenants: KnownTenants,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.failingTenants = new FailingTurns(now);
    this.failingOrganizations = new FailingTurns(now);
  }

  /**
   * Finds the item whose turn it is.
   * @param read answers all organizations that have an item which is due, those that wait longest first
   * @param find answers an item of the first of these organizations that has one which is free
   */
  async next<Item extends { readonly organization_id: string }>(
    read: () => Promise<readonly string[]>,
    find: (organizationIds: readonly string[]) => Promise<Item | undefined>,
  ): Promise<Item | undefined> {
    const known = this.isOver ? undefined : await this.firstOf(find);
    if (known) return known;
    await this.read(read);
    const found = await this.firstOf(find);
    if (!found) this.latest.forget();
    return found;
  }

  /**
   * Has one organization after the other do a piece until none has any.
   * @param piece says whether there was one; what is left undone is not tried again before all others had their turn.
   *   What failed without being thrown is told by `failed`
   * @returns whether anybody waited
   */
  async goThrough(
    read: () => Promise<readonly string[]>,
    piece: (organizationId: string, failed: () => void) => Promise<boolean>,
    stopping: () => boolean,
  ): Promise<boolean> {
    let any = false;
    for (let isBusy = true; isBusy && !stopping();) {
      isBusy = false;
      await this.read(read);
      for (let id = this.first; id !== undefined && !stopping(); id = this.first) {
        if (isBusy && this.isOver) break;
        any = true;
        if (await this.turnOf(id, piece)) isBusy = true;
        else this.leave(id);
        // What waits all the time must leave the loop to others.
        await yieldLoop();
      }
    }
    return any;
  }

  /**
   * Takes those whose turns are next, for one piece of all of them together, which is their turn. Who waits is read each time.
   * @returns at most so many, those of different tenants first
   */
  async some(read: () => Promise<readonly string[]>, most: number): Promise<string[]> {
    await this.read(read);
    const ids = this.firsts(most);
    for (const id of ids) this.had(id);
    return ids;
  }

  /**
   * Does a piece, which is its organization's turn whatever comes of it.
   * @param organizationOf undefined: nobody's
   * @param hasFailed says of a piece that came to its end whether it failed all the same
   */
  async note<T>(
    organizationOf: () => string | undefined,
    piece: () => Promise<T>,
    hasFailed?: () => boolean,
  ): Promise<T> {
    const tenantOf = (): string | undefined => {
      const id = organizationOf();
      const tenant = id === undefined ? UNKNOWN : this.tenant(id);
      // Nobody of those who are not known rests for another.
      return tenant === UNKNOWN ? undefined : tenant;
    };
    try {
      return await this.failingTenants.note(
        tenantOf,
        () => this.failingOrganizations.note(organizationOf, piece, hasFailed),
        hasFailed,
      );
    } finally {
      const id = organizationOf();
      if (id !== undefined) this.had(id);
    }
  }

  private turnOf(
    id: string,
    piece: (organizationId: string, failed: () => void) => Promise<boolean>,
  ): Promise<boolean> {
    let hasFailed = false;
    const failed = (): void => {
      hasFailed = true;
    };
    return this.note(
      () => id,
      () => piece(id, failed),
      () => hasFailed,
    );
  }

  private get isOver(): boolean {
    return this.lines.size === 0 || this.now() >= this.readAgainAt;
  }

  private async read(read: () => Promise<readonly string[]>): Promise<void> {
    const began = this.now();
    const ids = await read();
    const now = this.now();
    this.readAgainAt = now + Math.max(READ_EVERY_MS, TIMES * (now - began));
    const owners = ids.map((organizationId) => ({
      organizationId,
      tenant: this.tenants.whoseTurn(organizationId) ?? UNKNOWN,
    }));
    this.tenantOf.clear();
    for (const { organizationId, tenant } of owners) this.tenantOf.set(organizationId, tenant);
    this.lines = new Map();
    for (const { organizationId, tenant } of this.latest.inOrder(owners)) {
      const line = this.lines.get(tenant);
      if (line) line.add(organizationId);
      else this.lines.set(tenant, new Set([organizationId]));
    }
  }

  /** Those before it in the line have none: they leave. */
  private async firstOf<Item extends { readonly organization_id: string }>(
    find: (organizationIds: readonly string[]) => Promise<Item | undefined>,
  ): Promise<Item | undefined> {
    for (let some = this.firsts(AT_ONCE); some.length > 0; some = this.firsts(AT_ONCE)) {
      const item = await find(some);
      const at = item ? some.indexOf(item.organization_id) : some.length;
      for (const id of some.slice(0, at)) this.leave(id);
      if (item) return item;
    }
    return undefined;
  }

  private get first(): string | undefined {
    return this.firsts(1)[0];
  }

  private firsts(most: number): string[] {
    const first: string[] = [];
    for (const id of this.inTurn()) {
      first.push(id);
      if (first.length === most) break;
    }
    return first;
  }

  /** Those that rest after all others, as far as they are asked for: no more is looked at. */
  private *inTurn(): Generator<string> {
    const later: string[] = [];
    const own = (tenant: string): Generator<string> => this.ownOf(tenant);
    yield* dealt(restingLast(this.lines.keys(), this.failingTenants, later), own);
    yield* dealt(later, own);
  }

  private *ownOf(tenant: string): Generator<string> {
    const later: string[] = [];
    yield* restingLast(this.lines.get(tenant) ?? [], this.failingOrganizations, later);
    yield* later;
  }

  private tenant(id: string): string {
    return this.tenantOf.get(id) ?? this.tenants.whoseTurn(id) ?? UNKNOWN;
  }

  private had(organizationId: string): void {
    const tenant = this.tenant(organizationId);
    this.latest.had({ tenant, organizationId });
    const line = this.lines.get(tenant);
    if (!line?.delete(organizationId)) return;
    line.add(organizationId);
    this.lines.delete(tenant);
    this.lines.set(tenant, line);
  }

  private leave(organizationId: string): void {
    const tenant = this.tenant(organizationId);
    const line = this.lines.get(tenant);
    line?.delete(organizationId);
    if (line?.size === 0) this.lines.delete(tenant);
  }
}

/** Yields those that do not rest; the others come to `later`. */
function* restingLast(ids: Iterable<string>, failing: FailingTurns, later: string[]): Generator<string> {
  for (const id of ids)
    if (failing.rests(id)) later.push(id);
    else yield id;
}

/** The first of each tenant, then the second. */
function* dealt(tenants: Iterable<string>, own: (tenant: string) => Iterator<string>): Generator<string> {
  let lines: Iterator<string>[] = [];
  for (const tenant of tenants) {
    const line = own(tenant);
    const next = line.next();
    if (next.done) continue;
    yield next.value;
    lines.push(line);
  }
  while (lines.length > 0) {
    const longer: Iterator<string>[] = [];
    for (const line of lines) {
      const next = line.next();
      if (next.done) continue;
      yield next.value;
      longer.push(line);
    }
    lines = longer;
  }
}
