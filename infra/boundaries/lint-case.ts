/** A piece of source that a lint rule must refuse, beside a twin that it must let pass. */
export interface LintCase {
  /** The rule and, where it has several parts, the part. */
  name: string;
  rule: string;
  illegal: { path: string; code: string };
  legal: { path: string; code: string };
}

export const SERVICE = 'apps/core/src/people/contacts/contacts.service.ts';

/** Both pieces stand in a service. */
export const inService = (rule: string, name: string, illegal: string, legal: string): LintCase => ({
  name,
  rule,
  illegal: { path: SERVICE, code: illegal },
  legal: { path: SERVICE, code: legal },
});
