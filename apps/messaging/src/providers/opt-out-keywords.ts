/** Twilio's own words, and those by which Spanish speakers say it; an answer with more in it is a conversation. */
const OPT_OUT_KEYWORDS =
  /^(?:stop|stopall|stop all|unsubscribe|cancel|end|quit|revoke|optout|alto|baja|parar|pare|salir|cancelar)[.!]?$/i;

/** Whether somebody wrote that they want to be left alone. */
export function isOptOutKeyword(text: string): boolean {
  return OPT_OUT_KEYWORDS.test(text.trim());
}
