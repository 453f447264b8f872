/** A refusal of a schema's own check: the code of the contract and the sentence for `detail`. */
export function refuse(code: string, message: string): { params: { code: string }; message: string } {
  return { params: { code }, message };
}
