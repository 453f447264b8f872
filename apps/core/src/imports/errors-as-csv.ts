import { csvLine } from '@customer-platform/http';
import type { ImportErrorDto } from './import.dto.js';

/** What stands above the errors of a file. */
export const CSV_HEAD = 'line,column,code,value,detail\r\n';

/** An error as a line, with its end. */
export function csvLineOf({ line, column, code, value, detail }: ImportErrorDto): string {
  return csvLine([line, column, code, value, detail]);
}
