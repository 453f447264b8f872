import { createHash } from 'node:crypto';

/** How much is seeded. */
export interface SeedSize {
  contacts: number;
  events: number;
  organizations: number;
}

/** An organization's share. */
export interface Share {
  organizationId: string;
  /** Place among the organizations, from 0: the one whose lists are measured. */
  place: number;
  contacts: number;
  events: number;
}

/** A piece that is written in one transaction, or not at all. */
export interface Block {
  share: Share;
  kind: 'contacts' | 'events';
  from: number;
  to: number;
}

/** Of all contacts and events, the first organization has this part: lists are slow where they are long. */
const FIRST_SHARE = 0.5;
const BLOCK = { contacts: 10_000, events: 50_000 };

/** Organizations of a seed have ids of their own, the same in each run. */
function organizationOf(place: number): string {
  const hex = createHash('sha256').update(`seeded organization ${place}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Splits a size among organizations, the first of which is `measured`. */
export function sharesOf({ contacts, events, organizations }: SeedSize, measured: string): Share[] {
  const others = organizations - 1;
  const part = (total: number, place: number): number => {
    const first = others === 0 ? total : Math.floor(total * FIRST_SHARE);
    if (place === 0) return first;
    const rest = total - first;
    return Math.floor((rest * place) / others) - Math.floor((rest * (place - 1)) / others);
  };
  return Array.from({ length: organizations }, (_, place) => ({
    organizationId: place === 0 ? measured : organizationOf(place),
    place,
    contacts: part(contacts, place),
    events: part(events, place),
  }));
}

function split(share: Share, kind: Block['kind']): Block[] {
  const [total, size] = [share[kind], BLOCK[kind]];
  return Array.from({ length: Math.ceil(total / size) }, (_, at) => ({
    share,
    kind,
    from: at * size,
    to: Math.min(total, (at + 1) * size),
  }));
}

/** All pieces: an organization's contacts before its events. An event needs a contact to be about. */
export function blocksOf(shares: readonly Share[]): Block[] {
  return shares
    .filter(({ contacts }) => contacts > 0)
    .flatMap((share) => [...split(share, 'contacts'), ...split(share, 'events')]);
}
