/** What the keys that sign ID tokens are for. */
export const ID_TOKENS = 'id_tokens';

/** Relying parties know no other so surely (OpenID Connect Core §15.1). */
export const ID_TOKEN_ALGORITHM = 'RS256';

/** An ID token lives so long (identity.md §7). */
export const ID_TOKEN_LIFE_S = 3_600;

/** One is a hint at who signs out as long as its session may go on, which is a day at most (identity.md §2). */
export const HINT_LIFE_S = 86_400;
