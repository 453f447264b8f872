/**
 * What is at fault where a mail is refused for good, by the one table for replies of servers, reports that return, and
 * webhooks (messaging.md §10; docs/delivery-faults.md has how often real reports say what).
 */

/** `recipient`: there is no such address. `other`: the sender, the content, a policy, a full mailbox, or a fault that passes. */
export type DeliveryFault = 'recipient' | 'other';

/** What a server, or who reports of it, has said. */
export interface Refusal {
  /** RFC 3463, alone or at the beginning of a text. */
  readonly status?: string | undefined;
  /** The reply of the server that refused, with its code; `smtp;` before it is no matter. */
  readonly text?: string | undefined;
}

/** Mailbox, system, syntax, ambiguous, valid, moved, none taken (RFC 3463, 7505); Exchange's that pass on another's. */
const RECIPIENT = /^5\.1\.(?:[0-6]|10|35[01])$/;
/** Mailbox, content, policy, and of the addresses those of the sender (RFC 3463, 3886; Exchange's 20 and 90). */
const OTHER = /^(?:4\.|5\.[267]\.|5\.1\.(?:[789]|20|90)$)/;
/** A class without a detail: words count beside it. */
const VAGUE = /^[45]\.[0-5]\.0$/;

/** A longer text is cut: what counts stands at its beginning. */
const READ_CHARACTERS = 2_000;
/** Local parts and hosts of addresses hold words of people's own. */
const ADDRESSES = /<[^<>\s]*>|[^\s<>"'@]{1,64}@[^\s<>"'@]{1,255}/g;
const STATUSES = /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d]|\.\d)/g;
const CODE = /(?<![\d.])[2-5]\d\d(?=[\s-]|$)/;

const OF_SENDER =
  /\bsenders?\b|\bmail ?from\b|\benvelope[- ]from\b|\breturn[- ]path\b|\b(?:allowed|permitted|authori[sz]ed) to send\b|\bhas sent\b/i;
const NO_SUCH_RECIPIENT = [
  /\b(?:unknown|invalid|non-?existent|no such|not a (?:known|valid)|bad destination) (?:local |e-?mail |virtual )*(?:user|recipient|mailbox|account|address|person|alias|customer)\b/i,
  /\b(?:users?|recipients?|mailbox|account|address|alias|customer|destinataire)\b[^.;:]{0,60}?\b(?:unknown|(?:does not|doesn['’]?t|not) exists?|not (?:been )?found|not known|invalide?|no longer (?:exists|valid|available|on (?:the |this )?server))\b/i,
  /\bnot our (?:user|customer)\b|\bno (?:mailbox|account|user)\b[^.;:]{0,20} by (?:that|this) name\b/i,
  /\b(?:does not|doesn['’]?t) have an? (?:\S+ )?account\b|\brecip(?:ient)?notfound\b|\bnot listed in\b[^.;:]{0,30}\bdirectory\b/i,
];
/** Said of addresses that there are not, and of much else. */
const REFUSED_RECIPIENT =
  /\b(?:recipient|addressee)(?: address)? (?:was |has been )?(?:rejected|refused|denied)\b|\bunrouteable address\b/i;
/** Beside a status of the address that servers take for anything. */
const OF_POLICY =
  /\b(?:spam\w*|blocked|blocklist\w*|black-?list\w*|dnsbl|rbl|spf|dkim|dmarc|reputation|policy|relay\w*|quota|too many|rate limit\w*)\b/i;

/** Reads who is at fault; undefined where nothing tells. */
export function deliveryFault({ status = '', text = '' }: Refusal): DeliveryFault | undefined {
  const words = text.slice(0, READ_CHARACTERS).replace(ADDRESSES, ' ');
  const said = words.match(STATUSES) ?? [];
  const [reported] = status.trimStart().match(STATUSES) ?? [];
  const code = CODE.exec(words.replace(STATUSES, ' '))?.[0];
  const passes = code === undefined && [...said, reported].some((one) => one?.startsWith('4.'));
  if (passes || code?.startsWith('4') || OF_SENDER.test(words)) return 'other';
  // The server that refused knows better than who reports of it.
  if (said.some(isOther)) return 'other';
  if (NO_SUCH_RECIPIENT.some((pattern) => pattern.test(words)))
    return said.length === 0 && reported !== undefined && isOther(reported) ? 'other' : 'recipient';
  const detailed = said.filter((one) => !VAGUE.test(one));
  const statuses = detailed.length > 0 ? detailed : [...said, ...(reported === undefined ? [] : [reported])];
  if (OF_POLICY.test(words) || statuses.some((one) => OTHER.test(one))) return 'other';
  if (statuses.some((one) => RECIPIENT.test(one))) return 'recipient';
  return code?.startsWith('5') && REFUSED_RECIPIENT.test(words) ? 'recipient' : undefined;
}

/** Whether a status blames something else, in detail. */
function isOther(status: string): boolean {
  return OTHER.test(status) && !VAGUE.test(status);
}
