export {
  PERMISSIONS,
  isPermission,
  permissionDescriptors,
  type Permission,
  type PermissionDescriptor,
} from './registry.js';
