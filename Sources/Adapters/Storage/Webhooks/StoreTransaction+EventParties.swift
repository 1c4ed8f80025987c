internal import Accounts
package import Model
package import Webhooks

// What events tell about users.
extension StoreTransaction {
    package func externalIDs(of users: [UserID]) throws -> [UserID: String] {
        try outsideSubjects(of: users, issuer: UserReference.issuer)
    }

    package func eventDevices(of user: UserID) throws -> [EventDevice] {
        let devices = try sql.query(
            """
            SELECT d.id, d.name, d.platform FROM devices d
            WHERE d.user_id = ?1 AND EXISTS (
                SELECT 1 FROM sign_ins s
                WHERE s.user_id = d.user_id AND s.device_id = d.id AND s.ended_at IS NULL AND s.expires_at > ?2)
            ORDER BY d.last_seen_at DESC, d.id LIMIT ?3
            """, [.id(user), .time(now), .integer(AccountRules.maxSignIns)])
        var endpoints: [DeviceID: [EndpointID]] = [:]
        let known = try sql.query(
            """
            SELECT e.id, s.device_id FROM endpoints e JOIN sign_ins s ON s.id = e.sign_in_id
            WHERE e.user_id = ?1 AND s.user_id = ?1 AND s.ended_at IS NULL ORDER BY e.id
            """, [.id(user)])
        for row in known {
            let endpoint: EndpointID = try row.id(0)
            if isConnected(endpoint) { endpoints[try row.id(1), default: []].append(endpoint) }
        }
        return try devices.map { row in
            let id: DeviceID = try row.id(0)
            return EventDevice(
                id: id, name: try row.text(1), platform: try row.text(2), endpoints: endpoints[id] ?? [])
        }
    }
}
