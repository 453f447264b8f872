/** The injection token of the key of loyalty's keyed hashes, `LEDGER_KEY`. */
export const LEDGER_KEY = Symbol('LEDGER_KEY');
