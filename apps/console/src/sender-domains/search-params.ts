import type { DomainSort, DomainState } from './sender-domain.ts';

/** Filters and sorts the domains, and says which of them stands beside the list; `new` is the form of another one. */
export interface SenderDomainsSearch {
  domain?: string | undefined;
  state?: DomainState | undefined;
  deleted?: true | undefined;
  sort?: DomainSort | undefined;
  open?: string | undefined;
}
