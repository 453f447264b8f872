import { IsString } from 'class-validator';

/** A permission of the registry. */
export class PermissionDto {
  @IsString()
  permission: string;

  @IsString()
  module: string;

  @IsString()
  resource: string;

  @IsString()
  action: string;

  @IsString()
  description: string;
}
