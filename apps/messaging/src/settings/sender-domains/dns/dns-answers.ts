import { Resolver } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';

/** What DNS says of the TXT records of a name. */
export type TxtAnswer =
  /** Each joined from its pieces, at least one. */
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  /** There is no such record. */
  | { readonly kind: 'none' }
  /** More than anybody publishes in earnest. */
  | { readonly kind: 'too_large' }
  /** Nobody knows: a timeout, SERVFAIL, a refusal, nonsense. It says nothing of the records. */
  | { readonly kind: 'silent' };

/** What DNS says of the alias that a name is. */
export type AliasAnswer =
  /** In lower case. */
  { readonly kind: 'alias'; readonly name: string } | { readonly kind: 'none' } | { readonly kind: 'silent' };

/** How long name servers are waited for. */
@Injectable()
export class DnsPatience {
  /** For one answer; then once more. */
  tryMs = 1_500;
  /** For all answers of one check. */
  checkMs = 5_000;
}

const TRIES = 2;
/** Of one check: far more than the records of a domain need with all that SPF allows. */
const MOST_QUESTIONS = 40;
const MOST_RECORDS = 200;
const MOST_CHARACTERS = 32 * 1_024;

/** Codes by which a name server says that there is nothing; every other failure is silence. */
const NOTHING = new Set(['ENODATA', 'ENOTFOUND', 'EBADNAME']);

/**
 * The questions of one check, bounded in time, number and size of answers: what is asked about is other people's, and
 * what they publish leads to further questions. A name is asked about once.
 */
export class DnsAnswers {
  private readonly resolver: Resolver;
  private readonly asked = new Map<string, Promise<TxtAnswer>>();
  private readonly end: NodeJS.Timeout;
  private over = false;

  /** @param servers whom to ask; undefined: the system's name servers */
  constructor(servers: readonly string[] | undefined, { tryMs, checkMs }: DnsPatience) {
    this.resolver = new Resolver({ timeout: tryMs, tries: TRIES, maxTimeout: tryMs });
    if (servers) this.resolver.setServers(servers);
    this.end = setTimeout(() => this.close(), checkMs);
  }

  /** Never throws. */
  texts(name: string): Promise<TxtAnswer> {
    const key = name.toLowerCase();
    let answer = this.asked.get(key);
    if (!answer) {
      const may = !this.over && this.asked.size < MOST_QUESTIONS;
      answer = may ? this.ask(key) : Promise.resolve({ kind: 'silent' });
      this.asked.set(key, answer);
    }
    return answer;
  }

  /** Of a name that is asked about once. Never throws. */
  async alias(name: string): Promise<AliasAnswer> {
    if (this.over) return { kind: 'silent' };
    try {
      const [alias] = await this.resolver.resolveCname(name);
      return alias === undefined ? { kind: 'none' } : { kind: 'alias', name: alias.toLowerCase() };
    } catch (error) {
      return { kind: isNothing(error) ? 'none' : 'silent' };
    }
  }

  /** Ends what is still being asked. */
  close(): void {
    this.over = true;
    clearTimeout(this.end);
    this.resolver.cancel();
  }

  private async ask(name: string): Promise<TxtAnswer> {
    try {
      const records = await this.resolver.resolveTxt(name);
      if (records.length === 0) return { kind: 'none' };
      if (records.length > MOST_RECORDS) return { kind: 'too_large' };
      let characters = 0;
      for (const pieces of records) for (const piece of pieces) characters += piece.length;
      if (characters > MOST_CHARACTERS) return { kind: 'too_large' };
      return { kind: 'texts', texts: records.map((pieces) => pieces.join('').trim()) };
    } catch (error) {
      return { kind: isNothing(error) ? 'none' : 'silent' };
    }
  }
}

function isNothing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && NOTHING.has(String(error.code));
}
