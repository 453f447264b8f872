/** Changes of the ways by which a person signs in. */
export type AccountChange =
  | 'password_changed'
  | 'factor_confirmed'
  | 'factor_removed'
  | 'recovery_code_used'
  | 'recovery_codes_replaced';

/** What only identity can say an address and a link of: an invitation, a new password that was asked for. */
interface OpenRef {
  readonly kind: 'invitation' | 'password_reset';
  readonly id: string;
}

/** A user who is told what has happened to the account, and when. */
interface AccountRef {
  readonly kind: 'account';
  readonly id: string;
  readonly about: AccountChange;
  readonly at: string;
  /** The names of the factors that were removed, at most five; a release before does not say them. */
  readonly names?: readonly string[];
}

/** A place at which identity has an address and a link. */
export type LinkRef = OpenRef | AccountRef;

/** Kinds of which identity has an address. */
export type LinkKind = LinkRef['kind'];
