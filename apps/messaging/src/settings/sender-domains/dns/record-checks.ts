import type { Fault, WantedRecord } from '../dns-records.js';
import { organizationalDomain } from '../domain-name.js';
import type { AliasAnswer, DnsAnswers, TxtAnswer } from './dns-answers.js';
import { checkSpf } from './spf.js';
import type { Verdict } from './verdict.js';

const DMARC = /^v=DMARC1\s*(?:;|$)/;
const POLICIES = ['none', 'quarantine', 'reject'];

const FOUND: Verdict = { status: 'found', fault: null };
const MISSING: Verdict = { status: 'missing', fault: null };

function wrong(fault: Fault): Verdict {
  return { status: 'wrong', fault };
}

/** What DNS says of a record that is to be published. Never throws. */
export async function checkRecord(
  answers: DnsAnswers,
  domain: string,
  record: WantedRecord,
  spfInclude: string | undefined,
): Promise<Verdict> {
  switch (record.purpose) {
    case 'ownership':
      return judge(await answers.texts(record.name), (texts) => checkOwnership(texts, record.value));
    case 'dkim':
      return judge(await answers.texts(record.name), (texts) => checkDkim(texts, record.value));
    case 'spf':
      return checkSpf(answers, domain, spfInclude);
    case 'dmarc':
      return checkDmarc(answers, domain, record.name);
    case 'return_path':
      return checkAlias(await answers.alias(record.name), record.value);
  }
}

function checkAlias(answer: AliasAnswer, value: string): Verdict {
  switch (answer.kind) {
    case 'silent':
      return 'silent';
    case 'none':
      return MISSING;
    case 'alias':
      return answer.name === value ? FOUND : wrong('other_value');
  }
}

function judge(answer: TxtAnswer, check: (texts: readonly string[]) => Verdict): Verdict {
  switch (answer.kind) {
    case 'silent':
      return 'silent';
    case 'none':
      return MISSING;
    case 'too_large':
      return wrong('too_large');
    case 'texts':
      return check(answer.texts);
  }
}

/** Several organizations may have their proofs there, one beside the other. */
function checkOwnership(texts: readonly string[], value: string): Verdict {
  if (texts.includes(value)) return FOUND;
  const mark = value.slice(0, value.indexOf('=') + 1);
  return texts.some((text) => text.startsWith(mark)) ? wrong('other_value') : MISSING;
}

/** By its tags, whatever their order and space (RFC 6376 §3.6.1). */
function checkDkim(texts: readonly string[], value: string): Verdict {
  const [text, ...more] = texts;
  // Which of several a verifier takes is not defined.
  if (more.length > 0) return wrong('several_records');
  const given = tagsOf(text ?? '');
  const wanted = tagsOf(value);
  if (!given || (given.has('v') && given.get('v') !== 'DKIM1')) return wrong('invalid');
  const key = given.get('p')?.replaceAll(/\s/g, '');
  if (key === undefined) return wrong('invalid');
  if (key === '') return wrong('revoked');
  if (key !== wanted?.get('p') || (given.get('k') ?? 'rsa') !== wanted.get('k')) return wrong('other_value');
  if (!permits(given.get('h'), 'sha256') || !permits(given.get('s'), 'email')) return wrong('invalid');
  return FOUND;
}

function permits(list: string | undefined, wanted: string): boolean {
  if (list === undefined) return true;
  return list.split(':').some((each) => ['*', wanted].includes(each.trim()));
}

/** Of the name itself, or else of the domain it is registered under (RFC 7489 §6.6.3). */
async function checkDmarc(answers: DnsAnswers, domain: string, name: string): Promise<Verdict> {
  const own = judge(await answers.texts(name), judgeDmarc);
  const above = organizationalDomain(domain);
  if (own === 'silent' || own.status !== 'missing' || above === domain) return own;
  return judge(await answers.texts(`_dmarc.${above}`), judgeDmarc);
}

function judgeDmarc(texts: readonly string[]): Verdict {
  const [record, ...more] = texts.filter((text) => DMARC.test(text));
  if (record === undefined) return MISSING;
  if (more.length > 0) return wrong('several_records');
  return POLICIES.includes(tagsOf(record)?.get('p')?.toLowerCase() ?? '') ? FOUND : wrong('invalid');
}

/** Undefined for what is no list of tags, or names one twice. */
function tagsOf(text: string): ReadonlyMap<string, string> | undefined {
  const tags = new Map<string, string>();
  for (const tag of text.split(';')) {
    const at = tag.indexOf('=');
    if (at === -1 && tag.trim() === '') continue;
    const name = tag.slice(0, at).trim();
    if (at === -1 || tags.has(name)) return undefined;
    tags.set(name, tag.slice(at + 1).trim());
  }
  return tags;
}
