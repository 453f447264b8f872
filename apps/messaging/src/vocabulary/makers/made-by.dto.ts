import { IsUUID } from '@customer-platform/http';
import { IsIn } from 'class-validator';
import { MAKER_TYPES, type MadeRow, type MakerType } from './maker.js';

/** By whose rights something goes on. */
export class MadeByDto {
  @IsIn(MAKER_TYPES)
  type: MakerType;

  @IsUUID()
  id: string;
}

export function toMadeByDto({ makerType, makerId }: MadeRow): MadeByDto | null {
  return makerType === null || makerId === null ? null : { type: makerType, id: makerId };
}
