/** Somebody else got first to a contact or an identity; the same work passes when it begins anew. */
export class RaceLost extends Error {
  override readonly name = 'RaceLost';
}
