import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, isUuid, newId } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Instances } from '../../instances/instances.js';

/** How old what an instance knows of the others may be before it tells of itself and looks again. */
const LOOK_AGAIN_AFTER_MS = 800;
/**
 * An instance that has told nothing of itself for so long has no share: the end of a window moves a contact within
 * five seconds also where its instance was killed.
 */
const COUNTED_FOR_MS = 4_000;
/** Beyond it, organizations that an instance has set aside are left to it. */
const MOST_SET_ASIDE = 1_000;

/** An instance that evaluates segments. */
export interface EvaluatorInstance {
  readonly id: string;
  /** Organizations whose evaluation fails there: another instance may be the one that can. */
  readonly setAside: ReadonlySet<string>;
}

/**
 * The instance that evaluates an organization, by rendezvous hashing: when one comes or goes, only what it gets or had
 * changes hands. What every instance has set aside stays with the first.
 */
export function evaluatorOf(
  organizationId: string,
  instances: readonly EvaluatorInstance[],
): string | undefined {
  const able = instances.filter(({ setAside }) => !setAside.has(organizationId));
  let best: { id: string; weight: string } | undefined;
  for (const { id } of able.length > 0 ? able : instances) {
    const weight = hash('sha256', `${id} ${organizationId}`, 'hex');
    if (!best || weight > best.weight) best = { id, weight };
  }
  return best?.id;
}

/**
 * Which organizations this instance evaluates. Instances know each other by what each tells, between two turns, that it
 * comes on: one that hangs or was killed is left out after four seconds. Two that see others differently
 * may both look at an organization, or for a moment none does; that only one evaluates it is the matter of its lock.
 */
@Injectable()
export class EvaluatorShares {
  private readonly id = newId();
  private readonly known: Instances;
  private instances: readonly EvaluatorInstance[] = [];
  private toldAt = -Infinity;

  constructor(database: Database) {
    this.known = new Instances(database, 'segments', COUNTED_FOR_MS);
  }

  /** Tells that this instance comes on, and looks who else does, where that was not done just now. */
  async tell(setAside: () => readonly string[]): Promise<void> {
    if (performance.now() - this.toldAt < LOOK_AGAIN_AFTER_MS) return;
    const organizations = setAside().filter(isUuid).slice(0, MOST_SET_ASIDE);
    const others = await this.known.tell(this.id, organizations);
    const all = [{ id: this.id, setAside: organizations }, ...others];
    this.instances = all.map(({ id, setAside: aside }) => ({ id, setAside: new Set(aside) }));
    this.toldAt = performance.now();
  }

  /** Whether the organization is this instance's, by what it knew of the others when it last told. */
  has(organizationId: string): boolean {
    return this.instances.length <= 1 || evaluatorOf(organizationId, this.instances) === this.id;
  }

  /** The others need not wait until they miss it. */
  async leave(): Promise<void> {
    if (this.instances.length === 0) return;
    try {
      await this.known.leave(this.id);
    } catch (error) {
      log.info({ err: error }, 'The evaluator of segments could not sign off; the others will miss it');
    }
  }
}
