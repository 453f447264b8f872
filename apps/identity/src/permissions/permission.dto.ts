import { ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';

/** A permission of the registry. */
export class PermissionDto {
  @ApiProperty({ example: 'core.contacts.read' })
  @IsString()
  permission: string;

  @ApiProperty({ example: 'core' })
  @IsString()
  module: string;

  @ApiProperty({ example: 'contacts' })
  @IsString()
  resource: string;

  @ApiProperty({ example: 'read' })
  @IsString()
  action: string;

  @ApiProperty({ example: 'Read contacts' })
  @IsString()
  description: string;
}
