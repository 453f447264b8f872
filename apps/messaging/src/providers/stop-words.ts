/** Twilio's own words, and those by which Spanish speakers say it; an answer with more in it is a conversation. */
const STOP_WORDS =
  /^(?:stop|stopall|stop all|unsubscribe|cancel|end|quit|revoke|optout|alto|baja|parar|pare|salir|cancelar)[.!]?$/i;

/** Whether somebody wrote that they want to be left alone. */
export function isStopWord(text: string): boolean {
  return STOP_WORDS.test(text.trim());
}
