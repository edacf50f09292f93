export {
  buildServiceRequest,
  type ServiceCallOptions,
  type ServiceRequest,
} from "./call/build-request.ts";
export { servicesPack } from "./pack.ts";
