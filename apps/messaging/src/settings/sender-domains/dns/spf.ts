import type { Fault } from '../dns-records.js';
import { isPublicName } from '../domain-name.js';
import type { DnsAnswers } from './dns-answers.js';
import type { Verdict } from './verdict.js';

/** RFC 7208 §4.6.4: further look-ups make every receiver give up. */
const MOST_LOOKUPS = 10;
const LONGEST_RECORD = 4_096;
const SPF = /^v=spf1(?: |$)/i;
/** Mechanisms that cost a look-up beside `include` (RFC 7208 §4.6.4). */
const LOOKS_UP = /^(?:a|mx|ptr)(?:[:/]|$)|^exists:./;
const FREE = /^(?:all|ip4:[0-9./]+|ip6:[0-9a-f:./]+)$/;
/** A modifier: `redirect` counts, others are passed over. */
const MODIFIER = /^[a-z][a-z0-9._-]*=/;

/** The record is wrong, in this way. */
class SpfFault extends Error {
  constructor(readonly fault: Fault) {
    super(fault);
  }
}

/** Somebody who was to be asked is silent: nothing can be said of the record. */
class SpfSilence extends Error {}

/**
 * Whether a domain has one SPF record that receivers can follow to its end, and whether it leads to `include` where
 * that is wanted. Which servers it names otherwise is its owner's matter.
 */
export async function checkSpf(
  answers: DnsAnswers,
  domain: string,
  include: string | undefined,
): Promise<Verdict> {
  const walk = new SpfWalk(answers);
  try {
    const record = await walk.recordOf(domain);
    if (record === undefined) return { status: 'missing', fault: null };
    await walk.follow(record);
    if (include !== undefined && !walk.included.has(include))
      return { status: 'wrong', fault: 'not_included' };
    return { status: 'found', fault: null };
  } catch (error) {
    if (error instanceof SpfFault) return { status: 'wrong', fault: error.fault };
    if (error instanceof SpfSilence) return 'silent';
    throw error;
  }
}

/** From record to record. Each step costs a look-up, so that no loop goes further than their bound. */
class SpfWalk {
  readonly included = new Set<string>();
  private lookups = 0;

  constructor(private readonly answers: DnsAnswers) {}

  /** @throws SpfFault, SpfSilence */
  async recordOf(domain: string): Promise<string | undefined> {
    const answer = await this.answers.texts(domain);
    if (answer.kind === 'silent') throw new SpfSilence();
    if (answer.kind === 'too_large') throw new SpfFault('too_large');
    if (answer.kind === 'none') return undefined;
    const [record, ...more] = answer.texts.filter((text) => SPF.test(text));
    if (more.length > 0) throw new SpfFault('several_records');
    if (record !== undefined && record.length > LONGEST_RECORD) throw new SpfFault('too_large');
    return record;
  }

  /** @throws SpfFault, SpfSilence */
  async follow(record: string): Promise<void> {
    const terms = record.toLowerCase().split(' ').filter(Boolean).slice(1);
    let redirect: string | undefined;
    let ends = false;
    for (const written of terms) {
      const term = written.replace(/^[+?~-]/, '');
      if (term.startsWith('include:')) await this.lead(term.slice('include:'.length));
      else if (term.startsWith('redirect=')) redirect = term.slice('redirect='.length);
      else if (LOOKS_UP.test(term)) this.count();
      else if (FREE.test(term)) ends ||= isEnd(written);
      else if (!MODIFIER.test(term)) throw new SpfFault('invalid');
    }
    // Behind `all` nobody gets (RFC 7208 §6.1).
    if (redirect !== undefined && !ends) await this.lead(redirect);
  }

  private async lead(name: string): Promise<void> {
    this.count();
    // A macro is filled in by the receiver, of what only it knows.
    if (name.includes('%')) return;
    if (!isPublicName(name)) throw new SpfFault('invalid');
    this.included.add(name);
    const record = await this.recordOf(name);
    if (record === undefined) throw new SpfFault('invalid');
    await this.follow(record);
  }

  private count(): void {
    this.lookups += 1;
    if (this.lookups > MOST_LOOKUPS) throw new SpfFault('too_many_lookups');
  }
}

/** @throws SpfFault `permits_all`: every server of the world */
function isEnd(written: string): boolean {
  if (written === 'all' || written === '+all') throw new SpfFault('permits_all');
  return written.endsWith('all');
}
