/** The `kid` of a service key: the module's name, or the name and a number (`core-2`). */
export const SERVICE_KEY_ID = /^([a-z]+)(-[1-9]\d{0,5})?$/;

/** The module whose a service key is: names of modules hold no dash. */
export function ownerOfServiceKey(kid: string | undefined): string | undefined {
  return SERVICE_KEY_ID.exec(kid ?? '')?.[1];
}
